# dead.sh PIDFILE...: none of the processes lives. A zombie is dead: whoever
# adopted it may be slow to notice.
for f; do
	pid=$(cat "$f") || exit 2
	kill -0 "$pid" 2>/dev/null || continue
	case $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) in
	Z*) ;;
	*)
		echo "$f: process $pid lives" >&2
		ps -o pid,ppid,stat,args -p "$pid" >&2
		exit 1
		;;
	esac
done
