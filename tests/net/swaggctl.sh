#!/usr/bin/env bash
# swaggctl with real switches: every command once, who may use it, which switch it finds, and clients that behave badly.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$(dirname "${BASH_SOURCE[0]}")

CTL=$NET_BUILD/swaggctl/swaggctl
PCAP=$NET_BUILD/traffic/swagg-pcap

# What it says on standard error, when it ends with this status.
ctl_fails() { # STATUS [ARGUMENT...]
    local wanted=$1 status=0 said
    shift
    said=$(net_ctl "$@" 2>&1 >/dev/null </dev/null) || status=$?
    expect_equal "exit status of swaggctl $*" "$status" "$wanted"
    printf '%s\n' "$said"
}

begin_with_swagg ctl "control: {mode: \"660\", group: daemon}" "timers: {lost_after_ms: 600000}" \
    "tenants: [{name: lab, addresses: [$NET_SUBNET.1], jobs: [twin]}, {name: guest, addresses: [0.0.0.0/0]}]"
SOCKET=/run/swagg/$NET_ID.ctl
# A kernel asks for a neighbour's address again some seconds after it has used it. Here no frame is to come that nobody sent.
for host in 0 1 2 3; do
    net_exec "$host" sysctl -qw net.ipv4.neigh.eth0.delay_first_probe_time=100000
done

step "the socket has the mode and the group of the configuration"
expect_equal "mode and group" "$(stat -c '%a %G' "$SOCKET")" "660 daemon"

step "status, memory, ports, drops, counters, verdicts, lcores, fdb"
expect_match "status" "$(net_ctl status)" "pid +$NET_SWAGG_PID"
expect_equal "pid in JSON" "$(net_ctl -j status | python3 -c 'import json, sys; print(json.load(sys.stdin)["pid"])')" "$NET_SWAGG_PID"
expect_match "memory" "$(net_ctl memory)" "mbufs_in_use +[0-9]"
expect_equal "ports" "$(net_ctl -H -o name,link ports)" $'h0  up\nh1  up\nh2  up\nh3  up'
expect_match "a port" "$(net_ctl port h2)" "device +kernel:p2"
expect_match "drops" "$(net_ctl drops h1)" "oversize +0"
expect_match "counters" "$(net_ctl counters)" "received +[0-9]"
expect_match "verdicts" "$(net_ctl verdicts)" "drop_bad_checksum +0"
expect_match "lcores" "$(net_ctl -o lcore,cpu,rx,busy_percent lcores)" "lcore +cpu +rx +busy_percent"
expect_match "an lcore" "$(net_ctl lcore 1)" "ran_ms +[0-9]"
reaches 0 "$(net_ip 1)"
expect_match "fdb" "$(net_ctl fdb)" "$(net_mac 0) +h0 "

step "jobs, job, ranks, slots of a job whose rank 1 is missing"
expect_equal "jobs" "$(net_ctl jobs)" ""
expect_match "jobs, on a terminal" "$("$here/terminal.py" -- "$CTL" -s "$NET_ID" jobs)" "^none"
expect_match "drops, on a terminal" "$("$here/terminal.py" -- "$CTL" -s "$NET_ID" drops)" "counters that are 0, left out: [1-9]"
expect_match "memory, on a terminal" "$("$here/terminal.py" -- "$CTL" -s "$NET_ID" memory)" "pool_bytes +[0-9.]+ MB"
expect_match "memory, elsewhere" "$(net_ctl memory)" "pool_bytes +[0-9]{7,}"
expect_match "all of them" "$("$here/terminal.py" -- "$CTL" -s "$NET_ID" --all drops)" "runt +0"
expect_match "elsewhere" "$(net_ctl drops)" "runt +0"
rank_start late 0 3 --calls 3 --largest 5000
rank_start late 2 3 --calls 3 --largest 5000
net_until 20 "two ranks are there" prints = "present  2" net_ctl -H -o present job late
expect_match "jobs" "$(net_ctl jobs)" "late +forming"
expect_equal "who is missing" "$(net_ctl -o missing job late)" "missing  1"
expect_equal "ranks" "$(net_ctl -H -o rank,state ranks late)" $'0  joined\n1  absent\n2  joined'
expect_equal "slots" "$(net_ctl -o slots slots late)" "slots  0"
rank_start late 1 3 --calls 3 --largest 5000
ranks_wait 120

step "what does not exist is answered with what there is"
expect_match "a port" "$(ctl_fails 1 port nix)" "there is no port nix; there are: h0, h1, h2, h3"
expect_match "no port up, but a command" "$(ctl_fails 1 port up)" "there is no port up; .*did you mean swaggctl port up PORT"
expect_match "a job" "$(ctl_fails 1 ranks nix)" "there is no job nix; there are: "
expect_match "a command" "$(ctl_fails 2 nix)" "there is no command nix"
expect_match "a mistyped command" "$(ctl_fails 2 jobz)" "there is no command jobz; did you mean jobs\?"
expect_match "a column" "$(ctl_fails 2 -o name,lnk ports)" "there is no lnk in this view; there are: name, device, link, "
expect_match "--only with --json" "$(ctl_fails 2 -o name -j ports)" "--only chooses what is printed as text"
expect_match "watch alone" "$(ctl_fails 2 watch)" "usage: swaggctl watch COMMAND"
expect_match "an argument" "$(ctl_fails 2 port)" "usage: swaggctl port PORT"
expect_match "a switch" "$(ctl_fails 3 -s nix status)" "there is no switch at /run/swagg/nix.ctl"

step "who is not in the group is told which it is"
chmod 755 "$NET_DIR"
cp "$CTL" "$NET_DIR/swaggctl"
as_nobody() {
    setpriv --reuid 65534 --regid 65534 --clear-groups "$NET_DIR/swaggctl" -s "$NET_ID" status
}
refuses as_nobody 2>"$NET_DIR/refused"
expect_match "the refusal" "$(cat "$NET_DIR/refused")" "no permission to use $SOCKET: it is for the group daemon"
setpriv --reuid 65534 --regid 65534 --groups "$(getent group daemon | cut -d: -f3)" "$NET_DIR/swaggctl" -s "$NET_ID" -o pid status >/dev/null

step "nobody is told to join root's group"
chgrp root "$SOCKET"
refuses as_nobody 2>"$NET_DIR/refused"
expect_match "the refusal" "$(cat "$NET_DIR/refused")" "no permission to use $SOCKET: be root; or let a group use it"
chgrp daemon "$SOCKET"

step "a port is taken down, and brought up"
net_ctl port down h1
expect_equal "its link" "$(net_ctl -H -o link ports | xargs)" "up disabled up up"
refuses net_exec 0 ping -q -c1 -W1 "$(net_ip 1)" >/dev/null
has_dropped() {
    [ "$(net_ctl -o port_disabled drops h1 | awk '{ print $2 }')" -gt 0 ]
}
net_until 20 "it is dropped" has_dropped
reaches 0 "$(net_ip 2)"
net_ctl port up h1
reaches 0 "$(net_ip 1)"

step "stations are forgotten"
net_ctl fdb flush h0
refuses grep -q "$(net_mac 0)" <(net_ctl fdb)
net_ctl fdb flush
expect_equal "fdb" "$(net_ctl fdb | grep -c : || true)" 0

step "a station that is said to be on a port stays there"
net_ctl fdb add "$(net_mac 3)" h0
net_ctl fdb flush
expect_match "fdb" "$(net_ctl fdb)" "$(net_mac 3) +h0 +static"
refuses net_exec 1 ping -q -c1 -W1 "$(net_ip 3)" >/dev/null
net_ctl fdb del "$(net_mac 3)"
reaches 1 "$(net_ip 3)"
expect_match "fdb" "$(net_ctl fdb)" "$(net_mac 3) +h3 +learned"
expect_match "no MAC" "$(ctl_fails 1 fdb add 1:2 h0)" "1:2 is no MAC address"
expect_match "no such station" "$(ctl_fails 1 fdb del "$(net_mac 3)")" "there is no static station"

step "a port is impaired, and not any more"
impaired() { # COUNTER
    net_ctl -o "$1" port h2 | awk '{ print $2 }'
}
net_ctl impair set h2 tx drop=1
refuses net_exec 0 ping -q -c2 -W1 "$(net_ip 2)" >/dev/null
net_until 20 "it is dropped" prints -gt 0 impaired tx_impaired_drop
net_ctl impair set h2 rx duplicate_every=1 # in the other direction, too
net_ctl impair clear h2 tx
reaches 0 "$(net_ip 2)"
net_until 20 "it is doubled" prints -gt 0 impaired rx_impaired_duplicate
net_ctl impair clear h2
doubled=$(impaired rx_impaired_duplicate)
reaches 0 "$(net_ip 2)"
expect_equal "doubled since" "$(impaired rx_impaired_duplicate)" "$doubled"
expect_match "no probability" "$(ctl_fails 1 impair set h2 rx drop=2)" "drop: 2 is not a probability"
expect_match "no number" "$(ctl_fails 1 impair set h2 rx drop=often)" 'drop: "often" is not a number'
expect_match "no impairment" "$(ctl_fails 1 impair set h2 rx drip=1)" "drip: 1 is no impairment; there are: drop, duplicate"
expect_match "no direction" "$(ctl_fails 1 impair clear h2 up)" "up is no direction; there are: rx"

step "the log is made to tell more"
net_ctl log level debug
expect_equal "level" "$(net_ctl -o log_level status)" "log_level  debug"
grep -q "log level set to debug by the operator" "$NET_DIR/swagg.log" || fail "the log does not say so"
expect_match "no level" "$(ctl_fails 1 log level loud)" "loud is no log level; there are: error, warning"

step "a job is drained: it goes on, but nobody else gets in"
RANK_PID=()
rank_start drained 0 2 --calls 40 --largest 5000 --stop-before 20
rank_start drained 1 2 --calls 40 --largest 5000
net_until 20 "it runs" prints = "state  running" net_ctl -H -o state job drained
net_until 20 "rank 0 stops itself" is_stopped 0
expect_equal "restarts" "$(net_ctl -H -o restarts,resumed ranks drained | xargs)" "0 0 0 0"
expect_match "the job" "$(net_ctl job drained)" "bytes_per_s +[0-9]+.*retransmitted +[0-9]+.*window_least +[0-9]+.*window_most +[0-9]+.*restarts +0.*resumed_most +0"
net_ctl job drain drained
expect_equal "draining" "$(net_ctl -o draining job drained)" "draining  yes"
stranger=$(net_exec 3 "$COLLECTIVES" --switch "$(net_switch_ip)" --job drained --rank 0 --size 2 --answer-timeout 300000 \
    --join-timeout 300000 --calls 1 2>&1 || true)
expect_match "who comes late" "$stranger" "operator lets the job of this name come to its end"
has_a_minute() {
    [ "$(net_ctl -H -o bytes history drained | awk '{ sum += $1 } END { print sum + 0 }')" -gt 0 ]
}
net_until 20 "what it has summed is in its minute" has_a_minute

step "room is kept for a job that is not there yet, and is free again"
net_ctl job reserve soon tenant=guest job='awaited*' ranks=2 slots=100 for=600
expect_equal "reserved" "$(net_ctl -H -o name,job,tenant,ranks,slots,jobs reserved | xargs)" "soon awaited* guest 2 128 0"
expect_match "another of this name" "$(ctl_fails 1 job reserve soon tenant=guest ranks=2)" "there is a reservation of this name"
expect_match "whose" "$(ctl_fails 1 job reserve later ranks=2)" "Say tenant=NAME"
expect_match "what no job can be called" "$(ctl_fails 1 job reserve never tenant=lab job='twins*' ranks=2)" \
    'never: job=twins\*: no job of lab can have such a name: tenants\[0\].jobs says which'
net_ctl job release soon
expect_equal "reserved" "$(net_ctl -H reserved)" ""
expect_match "once more" "$(ctl_fails 1 job release soon)" "there is no reservation soon"
expect_match "what operators did" "$(net_ctl -H events)" "job reserve job=soon settings=.*\"ranks\":2,\"slots\":100,\"for\":600"

step "a job is ended: its ranks are told"
net_ctl job kill drained
rank_says 20 1 "operator has ended the job"
kill -CONT "${RANK_PID[0]}" # which had stopped itself
ranks_wait 120
rank_says 20 0 "operator has ended the job"
expect_match "once more" "$(ctl_fails 1 job kill nix)" "there is no job nix"

step "jobs of one name of two tenants are told apart"
for host in 0 1; do # each is the only rank of two that is there
    ip netns exec "$NET_ID-h$host" "$COLLECTIVES" --switch "$(net_switch_ip)" --job twin --rank 0 --size 2 --join-timeout 300000 \
        --answer-timeout 300000 --calls 1 >"$NET_DIR/twin$host.log" 2>&1 </dev/null &
    twins[host]=$!
done
both_form() {
    [ "$(net_ctl -H -o state job twin | xargs)" = "state forming state forming" ]
}
net_until 20 "both form" both_form
expect_equal "jobs" "$(net_ctl -H -o name,tenant jobs | grep twin | sort | xargs)" "twin guest twin lab"
expect_equal "both are shown" "$(net_ctl -o tenant job twin | sort | xargs)" "tenant guest tenant lab"
expect_equal "one of them" "$(net_ctl -o tenant job guest/twin)" "tenant  guest"
expect_equal "in JSON" "$(net_ctl -j ranks twin | grep -c '"missing"')" 2
expect_match "which to end" "$(ctl_fails 1 job kill twin)" "several tenants have a job twin; say which: .*guest/twin"
expect_match "which to watch" "$(ctl_fails 1 watch job twin)" "say which: .*lab/twin"
expect_equal "telemetry of the one" "$(net_telemetry /swagg/job,lab/twin tenant)" lab
chooses() { # KEYS
    "$here/terminal.py" 'which job\? \[1-2\] ' "$1\n" -- "$CTL" -s "$NET_ID" job kill twin >"$NET_DIR/asked.log"
}
refuses chooses 3
chooses "$(sed -n 's/^ *\([12]\)  lab.*/\1/p' "$NET_DIR/asked.log")"
net_until 20 "lab's rank is told" grep -q "operator has ended the job" "$NET_DIR/twin0.log"
expect_equal "the other one" "$(net_ctl -o state job guest/twin)" "state  forming"
net_ctl job kill guest/twin
net_until 20 "guest's rank is told" grep -q "operator has ended the job" "$NET_DIR/twin1.log"
wait "${twins[@]}" || true

step "so is one that an operator has added from one that workers have joined"
net_ctl job add single "workers=[{\"ip\": \"$(net_ip 3)\", \"mac\": \"$(net_mac 3)\", \"port\": 7000}]"
ip netns exec "$NET_ID-h1" "$COLLECTIVES" --switch "$(net_switch_ip)" --job single --rank 0 --size 2 --join-timeout 300000 \
    --answer-timeout 300000 --calls 1 >"$NET_DIR/single.log" 2>&1 </dev/null &
single=$!
net_until 20 "it forms" prints = "state  forming" net_ctl -o state job guest/single
expect_match "which to delete" "$(ctl_fails 1 job del single)" "several tenants have a job single; say which: .*/single"
expect_match "one that is not deleted" "$(ctl_fails 1 job del guest/single)" "was not added by an operator"
net_ctl job del /single
expect_equal "jobs" "$(net_ctl -H -o name,tenant jobs | grep single | xargs)" "single guest"
net_ctl job kill guest/single
wait "$single" || true

step "what was: jobs that began and ended, who was refused, what operators did; minutes of all jobs, and of one that is over"
expect_match "events" "$(net_ctl events)" "Z +began +late +guest +"
expect_match "a refusal" "$(net_ctl -H -o what,job,who events)" "refused +drained +$NET_SUBNET\.[0-9]+:[0-9]+"
expect_match "an operator" "$(net_ctl -H -o what,who,text events)" "operated +root +log level level=debug"
ctl_fails 1 port add h9 kernel:nix >/dev/null
expect_match "one who did not succeed" "$(net_ctl -H -o what,who,text events)" "operated +root +port add port=h9 device=kernel:nix.*: not done: "
expect_match "events of a job" "$(net_ctl -H -o what,job events late | xargs)" "^began late ended late$"
expect_match "minutes of all jobs" "$(net_ctl -H -o jobs,bytes,latest_job history)" "[12] +[1-9][0-9]+ +guest/(drained|late)"
expect_match "a job that is over" "$(net_ctl -H -o job,tenant history drained | uniq)" "^drained +guest$"
expect_match "a job that never was" "$(ctl_fails 1 history nix)" "there is no job nix"

step "top on a terminal: all views, a pause, its end"
"$here/terminal.py" 'status.*jobs.*ports.*h3 .*lcores.*q ends' ' ' 'paused' ' ' 'q ends' 'q' -- "$CTL" -s "$NET_ID" -n 0.1 top >"$NET_DIR/top.log"

step "watch shows rates, top without a terminal is text"
expect_match "watch" "$(net_ctl watch -c 2 -n 0.1 ports)" "rx_frames/s"
expect_equal "lines of JSON" "$(net_ctl -j watch --times 3 --every 0.1 drops | python3 -c 'import json, sys; print(sum("runt/s" in json.loads(line) for line in sys.stdin))')" 3
expect_match "watch" "$(ctl_fails 2 watch port down h0)" "changes something"
expect_match "top" "$(net_ctl -n 0.1 -c 2 top </dev/null | xargs)" "^status .*jobs.*ports .*h3 .*lcores .*status .*ports .*lcores"

step "a capture, by port, kind and job; swagg-pcap reads it again"
captures() { # FILE [OPTION...]: begins, in the background
    rm -f "$NET_DIR/$1"
    "$CTL" -s "$NET_ID" capture --write "$NET_DIR/$1" "${@:2}" 2>"$NET_DIR/capture.log" &
    capture=$!
    net_until 20 "the capture has begun" test -s "$NET_DIR/$1"
}
captured() { # ends it; sets frames and lost, how many there were
    kill -INT "$capture"
    captured_are
}
captured_are() {
    net_until 20 "the capture has ended" net_gone "$capture"
    wait "$capture"
    read -r frames lost < <(sed -n 's/ frames captured, \(.*\) lost .*/ \1/p' "$NET_DIR/capture.log")
}
captures pings.pcapng --port h1 --kind other
expect_match "a second one" "$(ctl_fails 1 capture --port h1 -w /dev/null)" "somebody captures on port h1 already"
net_exec 0 ping -q -c3 -W60 "$(net_ip 1)" >/dev/null
net_exec 2 ping -q -c3 -W60 "$(net_ip 3)" >/dev/null
captured
[ "$frames" -ge 6 ] || fail "$frames frames of three pings"
expect_equal "frames in the file" "$("$here/pcapng.py" "$NET_DIR/pings.pcapng" | grep -c '^h1 [12]')" "$frames"
captures job.pcapng --kind data
ranks_run taken 2 --calls 5 --largest 5000
captured
expect_equal "frames in the file" "$("$PCAP" show "$NET_DIR/job.pcapng" | wc -l)" "$frames"
[ "$frames" -gt 20 ] || fail "$frames frames of five collectives"
captures late.pcapng --kind data
kill -STOP "$capture"
ranks_run unread 2 --calls 20 --largest 1000000
kill -CONT "$capture"
captured
expect_equal "frames that a late reader loses" "$lost" 0
[ "$frames" -gt 10000 ] || fail "$frames frames of twenty large collectives"
rm "$NET_DIR/late.pcapng"
mkfifo "$NET_DIR/slow"
"$CTL" -s "$NET_ID" capture --write - >"$NET_DIR/slow" 2>"$NET_DIR/capture.log" &
capture=$!
exec {slow}<"$NET_DIR/slow"
head -c 4 <&"$slow" >"$NET_DIR/slow.pcapng" # it has begun
net_exec 0 ping -q -f -c300 -s1400 -W60 "$(net_ip 1)" >/dev/null
net_until 20 "it waits for its reader" grep -q '^1 ' "/proc/$capture/syscall" # write
kill -INT "$capture"
cat <&"$slow" >>"$NET_DIR/slow.pcapng" &
reader=$!
exec {slow}<&-
captured_are
wait "$reader"
[ "$frames" -ge 600 ] || fail "$frames frames of 300 pings"
expect_equal "frames for a slow reader" "$("$here/pcapng.py" "$NET_DIR/slow.pcapng" | grep -c '^h[01] [12]')" "$frames"
RANK_PID=()
rank_start watched 0 2 --calls 40 --largest 5000 --stop-before 20
rank_start watched 1 2 --calls 40 --largest 5000
net_until 20 "it runs" prints = "state  running" net_ctl -H -o state job watched
net_until 20 "rank 0 stops itself" is_stopped 0
held_up_by() { # JOB RANK
    [ "$(net_ctl -j job "$1" | python3 -c 'import json, sys; print(*json.load(sys.stdin)["waits_for"])')" = "$2" ]
}
net_until 20 "the job is said to wait for rank 0" held_up_by watched 0
number=$(net_ctl -o number job watched | awk '{ print $2 }')
captures watched.pcapng --job watched
for rank in 0 1; do # of another job, on the same hosts
    ip netns exec "$NET_ID-h$rank" "$COLLECTIVES" --switch "$(net_switch_ip)" --job other --rank "$rank" --size 2 --join-timeout 300000 \
        --answer-timeout 300000 --call-timeout 300000 --calls 5 --largest 5000 >"$NET_DIR/other$rank.log" 2>&1 </dev/null &
    others[rank]=$!
done
wait "${others[@]}" || fail "the other job failed: $(cat "$NET_DIR"/other?.log)"
kill -CONT "${RANK_PID[0]}"
ranks_wait 120
captured
expect_equal "exit statuses of the ranks" "${RANK_STATUS[*]}" "0 0"
[ "$frames" -gt 20 ] || fail "$frames frames of forty collectives"
expect_equal "jobs that frames are of" "$("$PCAP" show "$NET_DIR/watched.pcapng" | grep -o ' job [0-9]*' | sort -u)" " job $number"
step "... of one rank, and what is dropped for a reason"
ranks_start ranked 2 --until-told --largest 5000 --pause 20
ranks_say 60 open
captures ranked.pcapng --job ranked --rank 1
has_frames() { [ "$(stat -c %s "$NET_DIR/ranked.pcapng")" -gt 20000 ]; }
net_until 60 "frames of rank 1 come" has_frames
captured
expect_equal "hosts that frames are from and to" "$("$PCAP" show "$NET_DIR/ranked.pcapng" | grep -oE '[0-9.]+:[0-9]+ > [0-9.]+' | grep -oE '[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+' | sort -u | xargs)" "$(net_ip 1) $(net_switch_ip)"
expect_match "a rank that the job does not have" "$(ctl_fails 1 capture --job ranked --rank 2 -w /dev/null)" "has no rank 2: it has ranks 0 to 1"
captures dropped.pcapng --reason sml_bad_kind
for port in 48864 7; do # no gradient, and what is dropped for another reason
    net_exec 2 "$here/letter.py" write 7777 ff "$(net_switch_ip)" "$port"
done
is_dropped() { [ "$(net_ctl -H -o sml_bad_kind drops | awk '{ print $2 }')" -gt 0 ]; }
net_until 60 "it is dropped" is_dropped
job_ends
captured
expect_equal "frames that were dropped for that reason, and no others" "$frames" 1
expect_match "a rank without a job" "$(ctl_fails 1 capture --rank 1 -w /dev/null)" "of which job"
expect_match "no reason" "$(ctl_fails 1 capture --reason nix -w /dev/null)" "no reason of a drop"

"$CTL" -s "$NET_ID" capture --times 4 --write - 2>"$NET_DIR/capture.log" >"$NET_DIR/four.pcapng" &
capture=$!
net_until 20 "the capture has begun" test -s "$NET_DIR/four.pcapng"
reaches 0 "$(net_ip 1)"
reaches 0 "$(net_ip 1)"
reaches 0 "$(net_ip 1)"
net_until 20 "four frames were captured" net_gone "$capture"
expect_equal "frames in the file" "$("$here/pcapng.py" "$NET_DIR/four.pcapng" | wc -l)" 4
expect_match "no such job" "$(ctl_fails 1 capture --job nix -w /dev/null)" "no job nix runs; there are: "
expect_match "no such kind" "$(ctl_fails 1 capture --kind nix -w /dev/null)" "there are: data, control, other"

step "a capture waits for a switch that is slow to answer, as all commands do"
rm "$NET_DIR/four.pcapng"
kill -STOP "$NET_SWAGG_PID"
"$CTL" -s "$NET_ID" capture --write "$NET_DIR/four.pcapng" 2>"$NET_DIR/capture.log" &
capture=$!
sleep 2 # longer than a capture waits for frames
kill -CONT "$NET_SWAGG_PID"
net_until 20 "the capture has begun" test -s "$NET_DIR/four.pcapng"
captured

step "what cannot be written is told; what goes on for ever ends by it"
unwritten() { # ARGUMENT...
    local status=0
    timeout 300 "$CTL" -s "$NET_ID" "$@" 2>"$NET_DIR/unwritten" >/dev/full || status=$?
    expect_equal "exit status of swaggctl $*" "$status" 1
    expect_match "what it says" "$(cat "$NET_DIR/unwritten")" "^swaggctl: cannot write .*: No space left on device"
}
unwritten -j status
unwritten ports
unwritten -n 0.1 watch ports
unwritten capture --write -
unwritten capture --write /dev/full
expect_match "what it says" "$(cat "$NET_DIR/unwritten")" "cannot write /dev/full: .*; the last of 0 frames are not there"

step "bash completes commands and names"
completes() { # WORD... the last is to be completed
    PATH=$(dirname "$CTL"):$PATH bash -c '
        . "$1"
        COMP_WORDS=(swaggctl "${@:2}") COMP_CWORD=$(($# - 1))
        _swaggctl
        echo "${COMPREPLY[*]}"' bash "$NET_ROOT/swaggctl/completion.bash" "$@"
}
expect_match "commands" "$(completes st)" "^status"
expect_equal "ports" "$(completes -s "$NET_ID" port down h)" "h0 h1 h2 h3"
expect_equal "levels" "$(completes log level no)" "notice"

step "clients that never read, never speak, or speak nonsense hold nobody up"
"$here/bad_operator.py" "$SOCKET" >"$NET_DIR/bad_operator.log" 2>&1 &
bad=$!
net_until 20 "they are connected" grep -q connected "$NET_DIR/bad_operator.log"
expect_match "status" "$(net_ctl status)" "pid +$NET_SWAGG_PID"
reaches 2 "$(net_switch_ip)"
kill "$bad"

step "a second switch: it has a socket elsewhere, and is found all the same"
# Both see a /run/swagg of their own, so that no other switch of this machine is found.
mkdir "$NET_DIR/run"
alone() {
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount sh -c 'mount --bind "$1" /run/swagg; shift; exec "$@"' sh "$NET_DIR/run" "$@"
}
net_swagg_stop
[ ! -e "$SOCKET" ] || fail "the switch has left $SOCKET"
switch() { # NAME PORT PORT [YAML]
    printf 'ports: [{device: "kernel:%s"}, {device: "kernel:%s"}]\nmemory: {mode: no-huge}\n%s\n' "$2" "$3" "${4:-}" >"$NET_DIR/$1.yaml"
    net_background "$NET_DIR/$1.log" alone ip netns exec "$NET_ID-sw" "$NET_BUILD/swagg/swagg" "$NET_DIR/$1.yaml" -- \
        --file-prefix="$NET_ID-$1"
    net_until 20 "$1 is ready" grep -q ready: "$NET_DIR/$1.log"
}
mkdir -p /run/swagg
expect_match "no switch" "$(alone "$CTL" status 2>&1 || true)" "no swagg runs here"
switch a p0 p1
expect_equal "the only one" "$(alone "$CTL" -o name status)" "name  $NET_ID-a"
switch b p2 p3 "control: {path: $NET_DIR/b.ctl}"
expect_equal "both" "$(alone "$CTL" switches)" "$NET_ID-a"$'\n'"$NET_ID-b"
expect_match "which" "$(alone "$CTL" status 2>&1 </dev/null || true)" "2 switches run here.* $NET_ID-a $NET_ID-b"
expect_equal "by its name" "$(alone "$CTL" -s "$NET_ID-b" -o name status)" "name  $NET_ID-b"
expect_equal "by its path" "$(alone "$CTL" -s "$NET_DIR/b.ctl" -o name status)" "name  $NET_ID-b"
mv "$NET_DIR/run/$NET_ID-a.ctl" "$NET_DIR/run/first.ctl" # as "control: {path: /run/swagg/first.ctl}" has it
ln -s first.ctl "$NET_DIR/run/$NET_ID-a.ctl"
expect_equal "one with two files there" "$(alone "$CTL" switches)" "$NET_ID-a"$'\n'"$NET_ID-b"
mv "$NET_DIR/run/first.ctl" "$NET_DIR/run/$NET_ID-a.ctl"

step "a socket of a killed switch is replaced; one that is in use, or no socket, is not"
pid_of() { # SWITCH
    alone "$CTL" -s "$1" -o pid status | awk '{ print $2 }'
}
kill -KILL "$(pid_of "$NET_ID-b")"
net_until 20 "the killed one is not found any more" prints = "$NET_ID-a" alone "$CTL" switches
expect_match "the killed one" "$(alone "$CTL" -s "$NET_DIR/b.ctl" status 2>&1 || true)" "nobody answers at $NET_DIR/b.ctl"
switch b p2 p3 "control: {path: $NET_DIR/b.ctl}"
ended=$(pid_of "$NET_ID-a")
kill -TERM "$ended"
only_b() {
    [ "$(alone "$CTL" switches)" = "$NET_ID-b" ]
}
net_until 20 "the other one is not found any more" only_b
net_until 20 "it has ended" net_gone "$ended" # and left its ports
does_not_start() { # PATH
    printf 'ports: [{device: "kernel:p0"}]\ncontrol: {path: %s}\n' "$1" >"$NET_DIR/c.yaml"
    refuses alone ip netns exec "$NET_ID-sw" timeout 300 "$NET_BUILD/swagg/swagg" "$NET_DIR/c.yaml" -- --file-prefix="$NET_ID-c" 2>&1
}
expect_match "in use" "$(does_not_start "$NET_DIR/b.ctl")" "another swagg answers at $NET_DIR/b.ctl"
expect_match "no socket" "$(does_not_start "$NET_DIR/c.yaml")" "c.yaml is a file that is no socket"
expect_match "no group" "$(does_not_start "$NET_DIR/c.ctl, group: nix")" "there is no group nix on this machine"

step "without a socket"
does_run() {
    switch e p0 p1 "control: {path: none}"
    only_b
}
does_run
