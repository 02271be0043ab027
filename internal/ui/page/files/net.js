// Requests to the program. The token comes from the fragment of the address, which is then
// removed; a reload finds it in the storage of this tab.

const key = 'mcptest-ui-token';

function takeToken() {
  const found = /^#token=([0-9a-f]{64})$/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(key, found[1] ?? '');
    history.replaceState(null, '', location.pathname);
  }
  return sessionStorage.getItem(key) ?? '';
}

const token = takeToken();
const tab = crypto.randomUUID();

export const hasToken = () => token !== '';

/** What a person has to read: a refusal of the program, or that it is gone. */
export class Problem extends Error {}

/** @param {string} path @param {string} body @param {AbortSignal} [signal] */
async function request(path, body, signal) {
  try {
    return await fetch(path, {
      method: 'POST', body, signal: signal ?? null, cache: 'no-store', credentials: 'omit', redirect: 'error',
      headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + token },
    });
  } catch {
    throw new Problem('mcptest ui does not answer: it has ended, or its terminal was closed. Start it again.');
  }
}

/**
 * Sends a request; raw are further members, as JSON texts that must not be changed.
 * @param {string} path @param {Record<string, unknown>} members @param {Record<string, string>} [raw]
 * @returns {Promise<any>}
 */
export async function post(path, members, raw = {}) {
  let body = JSON.stringify(members).slice(0, -1);
  for (const [name, text] of Object.entries(raw)) body += (body === '{' ? '' : ',') + JSON.stringify(name) + ':' + text;
  const answer = await request('/api/' + path, body + '}');
  if (answer.status === 200) return answer.json();
  if (answer.status === 409) throw new Problem((await answer.json()).problem);
  throw new Problem((await answer.text()).trim());
}

/**
 * Follows what happens, and tries again when the connection is lost.
 * @param {(message: any) => void} receive @param {(problem: string) => void} lost
 */
export async function follow(receive, lost) {
  let after = 0;
  for (;;) {
    try {
      const stop = new AbortController();
      const answer = await request('/api/feed', JSON.stringify({ tab, after }), stop.signal);
      if (answer.status !== 200 || !answer.body) throw new Problem((await answer.text()).trim());
      lost('');
      await readLines(answer.body, stop, (line) => {
        const message = JSON.parse(line);
        if (message.last) after = message.last;
        receive(message);
      });
      throw new Problem('The connection to mcptest ui was lost.');
    } catch (e) {
      lost(e instanceof Error ? e.message : String(e));
    }
    await new Promise((done) => setTimeout(done, 1500));
  }
}

// The program sends something every ten seconds.
const silence = 25000;

/** @param {ReadableStream<Uint8Array>} body @param {AbortController} stop @param {(line: string) => void} each */
async function readLines(body, stop, each) {
  const reader = body.pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
  let rest = '';
  for (;;) {
    const timer = setTimeout(() => stop.abort(), silence);
    const { done, value } = await reader.read();
    clearTimeout(timer);
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(each);
  }
}
