#!/usr/bin/env bash
# How fast is GET /check over TLS, beside nginx with a fixed answer of 200 bytes?
#
#   bench/check/run.sh [seconds a round, default 10] [rounds, default 5]
#
# Both servers and the load generator share the machine's cores. Rounds alternate, and the medians are compared, so
# that whatever else the machine does hits both. Needs wrk, nginx and openssl (Debian's packages of these names).
set -euo pipefail
cd "$(dirname "$0")/../.."
. ./.ci/steps
seconds=${1:-10}
rounds=${2:-5}
debian wrk nginx-light openssl curl || missing "install wrk, nginx and openssl"
cargo build --release --locked -q -p server
quire=$PWD/target/release/quire
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
export QUIRE_DATA=$work/data QUIRE__LIMITS__KEY_REQUESTS=2000000000 QUIRE__LIMITS__USER_REQUESTS=2000000000
export QUIRE__HTTP__METRICS_LISTEN=

"$quire" user add bench@example.org >/dev/null
key=$("$quire" key add --user bench@example.org --json | sed 's/.*"key":"\([^"]*\)".*/\1/')
"$quire" serve --listen 127.0.0.1:18443 >"$work/quire.log" 2>&1 &
quire_pid=$!

cert=$work/data/tls
for _ in $(seq 50); do [ -s "$cert/cert.pem" ] && grep -q listening "$work/quire.log" && break; sleep 0.2; done
printf '{"success":true,"data":{"message":"%0151d"}}' 0 >"$work/check.json"
cat >"$work/nginx.conf" <<CONF
worker_processes auto; daemon off; pid $work/nginx.pid; error_log $work/nginx.log;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000;
  server {
    listen 127.0.0.1:18444 ssl; ssl_certificate $cert/cert.pem; ssl_certificate_key $cert/key.pem;
    location / { default_type application/json; return 200 '$(cat "$work/check.json")'; }
  }
}
CONF
nginx -c "$work/nginx.conf" 2>/dev/null &
nginx_pid=$!
sleep 1

ask() { wrk -t1 -c64 -d"${seconds}s" --latency -H "Authorization: Bearer $key" "https://127.0.0.1:$1/api/public/v1/check"; }
rate() { awk '/Requests\/sec/ {print int($2)}' "$1"; }
tail99() { awk '/99%/ {print $2}' "$1"; }
cpu() { awk '{print $14 + $15}' "/proc/$1/stat"; }
family_cpu() { local sum=0 pid; for pid in "$1" $(pgrep -P "$1" || true); do sum=$((sum + $(cpu "$pid"))); done; echo "$sum"; }

echo "GET /check, 64 connections, TLS, $(nproc) cores shared with wrk; $rounds rounds of $seconds s"
for round in $(seq "$rounds"); do
    for server in quire nginx; do
        pid_name=${server}_pid
        port=$([ "$server" = quire ] && echo 18443 || echo 18444)
        before=$(family_cpu "${!pid_name}")
        ask "$port" >"$work/$server.$round"
        after=$(family_cpu "${!pid_name}")
        requests=$(awk '/requests in/ {print $1}' "$work/$server.$round")
        per=$(awk -v t=$((after - before)) -v r="$requests" -v hz="$(getconf CLK_TCK)" 'BEGIN {printf "%.1f", t / hz / r * 1e6}')
        errors=$(grep -c 'Non-2xx' "$work/$server.$round" || true)
        echo "$(rate "$work/$server.$round") $(tail99 "$work/$server.$round") $per $errors" >>"$work/$server.all"
        printf '  round %s %-6s %8s requests/s  p99 %8s  %6s us CPU/request  non-2xx: %s\n' "$round" "$server" $(tail -1 "$work/$server.all")
    done
done
median() { sort -n "$work/$1.all" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
q=$(median quire) n=$(median nginx)
echo "median: quire $q/s, nginx $n/s, ratio $(awk -v q="$q" -v n="$n" 'BEGIN {printf "%.2f", q / n}')"
