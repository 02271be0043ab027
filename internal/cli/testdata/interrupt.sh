# interrupt.sh SIGNAL FILE COMMAND...: starts the command, sends it the signal
# when FILE is there, and prints its exit code. SIGNAL may be a list ("INT
# INT"), each sent 0.3 s after the one before.
signals=$1
file=$2
shift 2
"$@" &
pid=$!
n=0
while [ ! -e "$file" ]; do
	n=$((n + 1))
	[ "$n" -lt 3000 ] || { echo "no $file" >&2; kill -9 "$pid"; exit 2; }
	kill -0 "$pid" 2>/dev/null || break
	sleep 0.02
done
for s in $signals; do
	kill -"$s" "$pid"
	sleep 0.3
done
wait "$pid"
echo "exit=$?"
