#!/usr/bin/env bash
# litellm[proxy] 1.108.7 (PyPI, Python), with a master key and without a database, as its quick start has it.
# Guess: a key that is not the master key is refused with 401, as by the vendors whose wire it speaks.
# Seen: it is 400 with the type `no_db_connection` and "No connected db.": it looks further keys up in its database first.
# Clients that tell a wrong key by its status take it for a fault of the request.
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install -q 'litellm[proxy]==1.108.7' >/dev/null 2>&1
cat >config.yaml <<'YAML'
model_list:
  - model_name: m
    litellm_params: { model: openai/m, api_key: none, mock_response: hi }
YAML
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
key=sk-0123456789abcdef0123456789abcdef
LITELLM_MASTER_KEY=$key LITELLM_LOCAL_MODEL_COST_MAP=True timeout 120 \
  env/bin/litellm --config config.yaml --host 127.0.0.1 --port "$port" >server.log 2>&1 &
server=$!
for _ in $(seq 120); do
  curl -s -o /dev/null "http://127.0.0.1:$port/health/liveliness" && break
  sleep 0.5
done
asked() {
  curl -s -w '\n%{http_code}\n' "http://127.0.0.1:$port/v1/chat/completions" -H 'content-type: application/json' \
    -H "authorization: Bearer $1" -d '{"model":"m","messages":[{"role":"user","content":"x"}]}' |
    python3 -c 'import json, sys; body, status = sys.stdin.read().strip().rsplit("\n", 1); body = json.loads(body); print(status, body["error"]["type"] if "error" in body else body["choices"][0]["message"]["content"])'
}
{
  echo "its own key: $(asked "$key")"
  echo "another: $(asked sk-another)"
} >seen
cat seen
diff - seen <<'SEEN'
its own key: 200 hi
another: 400 no_db_connection
SEEN
