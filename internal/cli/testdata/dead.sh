# dead.sh PIDFILE...: none of the processes lives. A zombie is dead: whoever
# adopted it may be slow to notice. What was killed gets twenty seconds to go: it
# needs a processor for that.
lives() {
	kill -0 "$1" 2>/dev/null || return 1
	case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
	[ZX]*) return 1 ;;
	esac
}
for f; do
	pid=$(cat "$f") || exit 2
	n=0
	while lives "$pid"; do
		n=$((n + 1))
		if [ "$n" -gt 200 ]; then
			echo "$f: process $pid lives" >&2
			ps -o pid,ppid,stat,args -p "$pid" >&2
			exit 1
		fi
		sleep 0.1
	done
done
