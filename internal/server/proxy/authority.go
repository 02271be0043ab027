package proxy

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"sync"
	"time"
)

// lifetime is the validity of certificates, and skew the tolerated clock error of a
// program.
const (
	lifetime = 24 * time.Hour
	skew     = time.Hour
)

// authority certifies the declared hosts.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte

	mu     sync.Mutex
	leaves map[string]*tls.Certificate
}

// newAuthority returns an authority that can certify only the given hosts.
func newAuthority(hosts []string) (*authority, error) {
	now := time.Now()
	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: "mcptest, for one run"}, NotBefore: now.Add(-skew), NotAfter: now.Add(lifetime - skew),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign, PermittedDNSDomainsCritical: true,
	}
	constrain(t, hosts)
	a := &authority{cert: t, leaves: map[string]*tls.Certificate{}}
	key, der, err := a.certify(t)
	if err != nil {
		return nil, err
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("read the certificate of the authority: %w", err)
	}
	a.key, a.pem = key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a, nil
}

// certify makes a key and its certificate, which it signs itself if the authority has
// no key yet.
func (a *authority) certify(t *x509.Certificate) (key *ecdsa.PrivateKey, der []byte, err error) {
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err == nil {
		der, err = x509.CreateCertificate(rand.Reader, t, a.cert, &key.PublicKey, cmp.Or(a.key, key))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate for %s: %w", t.Subject.CommonName, err)
	}
	return key, der, nil
}

// constrain limits an authority to hosts. Without a permitted one, all addresses or
// names are excluded.
func constrain(t *x509.Certificate, hosts []string) {
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			bits := 8 * len(ip)
			if four := ip.To4(); four != nil {
				ip, bits = four, 32
			}
			t.PermittedIPRanges = append(t.PermittedIPRanges, &net.IPNet{IP: ip, Mask: net.CIDRMask(bits, bits)})
			continue
		}
		t.PermittedDNSDomains = append(t.PermittedDNSDomains, host)
	}
	if t.PermittedDNSDomains == nil {
		t.ExcludedDNSDomains = []string{""}
	}
	if t.PermittedIPRanges == nil {
		t.ExcludedIPRanges = []*net.IPNet{
			{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)},
			{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)},
		}
	}
}

// leaf returns the certificate of a host.
func (a *authority) leaf(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.leaves[host]; c != nil {
		return c, nil
	}
	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: host}, NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if ip := net.ParseIP(host); ip != nil {
		t.IPAddresses = []net.IP{ip}
	} else {
		t.DNSNames = []string{host}
	}
	key, der, err := a.certify(t)
	if err != nil {
		return nil, err
	}
	c := &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}
	a.leaves[host] = c
	return c, nil
}
