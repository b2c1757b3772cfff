#!/usr/bin/env bash
# What do testssl.sh and sslyze think of the server's TLS?
#
#   bench/security/tls.sh
#
# Starts a server of its own, with a certificate of an authority that is made here and that both tools are told to trust.
# Fails on a grade below A, on any finding of testssl.sh above LOW and on any vulnerability that sslyze finds. What only a
# public authority can give (revocation, stapling) does not count. Installs nothing: needs openssl, testssl 3.2 (Debian 13:
# testssl.sh) and sslyze (PyPI; SSLYZE names it where it is not on the path). QUIRE_BINARY names another binary than
# target/release/quire.
set -euo pipefail
cd "$(dirname "$0")/../.."
quire=${QUIRE_BINARY:-$PWD/target/release/quire}
sslyze=${SSLYZE:-sslyze}
testssl=$(command -v testssl || command -v testssl.sh) || { echo "install testssl.sh (Debian's package)" >&2; exit 1; }
command -v "$sslyze" >/dev/null || { echo "install sslyze (pip install sslyze, in an environment of its own)" >&2; exit 1; }
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -subj "/CN=Authority of a test" \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign -keyout ca.key -out ca.pem 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=localhost" -keyout key.pem -out request.pem 2>/dev/null
openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 89 -out leaf.pem 2>/dev/null \
    -extfile <(echo subjectAltName=DNS:localhost,IP:127.0.0.1; echo extendedKeyUsage=serverAuth)
cat leaf.pem ca.pem >certificate.pem
export QUIRE_DATA=$work/data QUIRE__HTTP__METRICS_LISTEN= QUIRE__HTTP__CERTIFICATE=$work/certificate.pem
export QUIRE__HTTP__PRIVATE_KEY=$work/key.pem
"$quire" serve --listen 127.0.0.1:0 >"$work/log" 2>&1 &
server=$!
for _ in $(seq 100); do grep -q listening "$work/log" && break; sleep 0.2; done
address=$(grep -o 'https://[0-9.:]*' "$work/log" | head -1)
address=localhost:${address##*:}

"$testssl" --quiet --color 0 --warnings off --ip 127.0.0.1 --add-ca "$work/ca.pem" --jsonfile "$work/testssl.json" "$address" \
    >"$work/testssl.txt" 2>&1 || true
echo "testssl.sh, findings that are neither OK nor INFO:"
python3 - "$work/testssl.json" <<'PYTHON'
import json, sys
expected = {"cert_crlDistributionPoints", "cert_ocspURL", "cert_revocation", "OCSP_stapling", "DNS_CAArecord"}
findings = json.load(open(sys.argv[1]))
grades = [finding["finding"] for finding in findings if finding["id"] == "overall_grade"]
bad = int(not grades or grades[0] not in ("A", "A+"))
if not grades:
    print("  no grade: testssl.sh gives one from version 3.2 on")
for finding in findings:
    if finding["severity"] in ("OK", "INFO"):
        continue
    counts = finding["severity"] not in ("LOW", "WARN", "DEBUG") and finding["id"].split(" ")[0] not in expected
    bad += counts
    print(f"  {finding['severity']:8} {finding['id']}: {finding['finding']}{'' if counts else '  (expected)'}")
for finding in findings:
    if finding["id"] in ("final_score", "overall_grade", "grade_cap_reason_1", "protocol_support_score",
                         "key_exchange_score", "cipher_strength_score"):
        print(f"  {finding['id']}: {finding['finding']}")
sys.exit(bad > 0)
PYTHON
echo "sslyze, against Mozilla's intermediate profile:"
# Its exit status speaks of the certificate too, which is ours by design.
"$sslyze" --certinfo_ca_file="$work/ca.pem" --mozilla_config=intermediate "$address" >"$work/sslyze.txt" 2>&1 || true
sed -n '/COMPLIANCE/,$p' "$work/sslyze.txt"
if grep -E 'VULNERABLE' "$work/sslyze.txt" | grep -v 'Not vulnerable\|NOT VULNERABLE\|OK -'; then
    echo "sslyze found a weakness" >&2
    exit 1
fi
