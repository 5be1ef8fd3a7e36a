"""Runs a program on a terminal (a pty) of a given size, types on it, and prints what it shows.

Standard input: {"args", "env", "cwd", "rows", "columns", "typed": [{"after", "type"}]} as JSON. Output: {"code", "screen"}.
"""
import fcntl, json, os, pty, select, struct, sys, termios, time

call = json.load(sys.stdin)
pid, master = pty.fork()
if pid == 0:
    size = struct.pack("HHHH", call["rows"], call["columns"], 0, 0)
    fcntl.ioctl(0, termios.TIOCSWINSZ, size)
    os.chdir(call["cwd"])
    os.execve(call["args"][0], call["args"], call["env"])
screen, typed, deadline = b"", call["typed"], time.monotonic() + 20
while time.monotonic() < deadline:
    if not select.select([master], [], [], 0.1)[0]:
        continue
    try:
        chunk = os.read(master, 65536)
    except OSError:
        break
    if not chunk:
        break
    screen += chunk
    while typed and typed[0]["after"].encode() in screen:
        os.write(master, typed.pop(0)["type"].encode())
else:
    os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
json.dump({"code": os.waitstatus_to_exitcode(status), "screen": screen.decode()}, sys.stdout)
