"""Cells see, start, signal and trace no process, their own parents included (attacks 2, 3, 4, 14)."""

from tests.components.sandbox.attacks.attack import BARRED, Attack, Table

CODE = """
import ctypes, mmap, platform
assert platform.machine() == "x86_64"
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("53b8@@000000cd805bc3"))  # push rbx; eax = number; int 0x80; pop rbx; ret
result = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""
ELSEWHERE = {
    "the list of processes": Attack(
        "import os\nassert str(HOST) in os.listdir('/proc') and open(f'/proc/{HOST}/comm').read()\nanswer = 'seen'"
    ),
    "the command of the harness": Attack("answer = open(f'/proc/{HOST}/cmdline').read(); assert 'driver' in answer"),
    "the environment of the harness": Attack("answer = open(f'/proc/{HOST}/environ').read()"),
    "the environment of the parent": Attack(
        "import os; answer = open(f'/proc/{os.getppid()}/environ').read(); assert 'gold' in answer"
    ),
    "the environment of the first process": Attack(
        "answer = open('/proc/1/environ').read(); assert 'HOME' in answer", bare=""
    ),
    "the memory of the harness": Attack("answer = open(f'/proc/{HOST}/mem', 'rb', 0)"),
    "the maps of the harness": Attack("answer = open(f'/proc/{HOST}/maps').read()"),
    "the open files of the harness": Attack("import os; answer = os.listdir(f'/proc/{HOST}/fd')"),
    "its own environment as the kernel keeps it": Attack(
        "answer = open('/proc/self/environ').read(); assert 'gold' in answer"
    ),
    "environment variables that look like secrets": Attack(
        "import os\nfound = [v for k, v in os.environ.items() if any(w in k for w in ('KEY', 'TOKEN', 'SECRET', 'PASS'))]\n"
        "assert found; answer = found"
    ),
    "the environment that the C library keeps": Attack(
        "import ctypes\nget = ctypes.CDLL(None).getenv; get.restype = ctypes.c_char_p\n"
        "answer = get(b'OPENAI_API_KEY'); assert answer"
    ),
    "the environment of the interpreter's start": Attack(
        "import os; assert set(os.environ) - {'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'PATH', 'PYTHONHASHSEED', 'TZ', 'TMPDIR', 'PWD'}; answer = dict(os.environ)"
    ),
    "a secret in a segment of memory": Attack(
        "import ctypes\nattach = ctypes.CDLL(None).shmat; attach.restype = ctypes.c_void_p\naddress = attach(SEGMENT, None, 0)\n"
        "assert address != 2**64 - 1; answer = ctypes.string_at(address, 30)"
    ),
    "a secret in a key": Attack(
        "import ctypes\nheld = ctypes.create_string_buffer(99)\nsyscall('keyctl', 11, KEY, held, 99); answer = held.value",
        says=BARRED,
    ),
    "a key by its name": Attack("answer = syscall('request_key', b'user', b'ward', 0, 0)", says=BARRED),
    "tracing the harness": Attack("syscall('ptrace', 0x4206, HOST, 0, 0); answer = 'traced'"),
    "tracing its parent": Attack("import os; syscall('ptrace', 0x4206, os.getppid(), 0, 0); answer = 'traced'"),
    "reading the memory of its parent": Attack(
        "import ctypes, os, struct\nheld = ctypes.create_string_buffer(8); at = ctypes.addressof(held)\n"
        "local, remote = struct.pack('QQ', at, 8), struct.pack('QQ', id(os) , 8)\n"
        "answer = syscall('process_vm_readv', os.getppid(), local, 1, remote, 1, 0)"
    ),
    "a descriptor of the harness": Attack(
        "import os; answer = os.pread(syscall('pidfd_getfd', syscall('pidfd_open', HOST, 0), INHERITED, 0), 99, 0)"
    ),
    "a descriptor of its parent": Attack(
        "import os; answer = syscall('pidfd_getfd', syscall('pidfd_open', os.getppid(), 0), 1, 0)"
    ),
    "stopping the harness": Attack("import os; os.kill(HOST, 19); answer = 'sent'", bare=""),
    "ending the harness": Attack("import os; os.kill(HOST, 9); answer = 'sent'", bare=""),
    "asking whether the harness lives": Attack("import os; os.kill(HOST, 0); answer = 'lives'"),
    "ending its parent": Attack("import os; os.kill(os.getppid(), 9); answer = 'sent'", status="error|killed", bare=""),
    "ending its parent from a raw call": Attack(
        "import os; syscall('tgkill', os.getppid(), os.getppid(), 9); answer = 'sent'", bare=""
    ),
    "queueing a signal to its parent": Attack(
        "import os; syscall('rt_sigqueueinfo', os.getppid(), 9, bytes(128)); answer = 'sent'", bare=""
    ),
    "ending its group": Attack("import os; os.killpg(0, 9); answer = 'sent'", status="error|killed", bare=""),
    "ending everything": Attack("import os; os.kill(-1, 9); answer = 'sent'", status="error|killed", bare=""),
    "ending the supervisor by its likely numbers": Attack(
        "import os, signal\nfor number in range(1, 60):\n    if number != os.getpid():\n"
        "        try: os.kill(number, signal.SIGKILL)\n        except OSError: continue\n"
        "        answer = number\nassert 'answer' in globals()",
        status="error|killed",
        bare="",
    ),
    "slowing the harness": Attack("import os; os.setpriority(os.PRIO_PROCESS, HOST, 19); answer = 'slow'"),
    "tying the harness to one CPU": Attack("import os; os.sched_setaffinity(HOST, {0}); answer = 'tied'"),
    "the limits of the harness": Attack(
        "import resource; resource.prlimit(HOST, resource.RLIMIT_NOFILE, (9, 9)); answer = 'tight'", bare=""
    ),
    "the limits of its parent": Attack(
        "import os, resource; answer = resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (9, 9))", bare=""
    ),
    "higher limits of its own": Attack(
        "import resource\nfor name in ('CPU', 'FSIZE', 'AS', 'NOFILE', 'CORE'):\n"
        "    kind = getattr(resource, 'RLIMIT_' + name)\n    try: resource.setrlimit(kind, (-1, -1))\n"
        "    except (ValueError, OSError): continue\n    answer = name\nassert 'answer' in globals()",
        bare="root",
    ),
    "another user": Attack(
        "import os\nfor user in (0, 1, 12345):\n    if user != os.getuid():\n        try: os.setresuid(user, user, user)\n"
        "        except OSError: continue\n        answer = os.getuid()\nassert 'answer' in globals()",
        bare="root",
    ),
}  # fmt: skip
STARTS = {
    "the shell": "import os; assert os.system('true') == 0",
    "a command's output": "import os; assert os.popen('echo 1').read() == '1\\n'",
    "a subprocess": "import subprocess; subprocess.run(['true'], check=True)",
    "a subprocess by a shell": "import subprocess; assert subprocess.getoutput('echo 1') == '1'",
    "a terminal": "import os, pty\nif not pty.fork()[0]: os._exit(0)",
    "a spawned command": "import os; os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)",
    "a spawned command without a copy": "import os; assert os.spawnv(os.P_WAIT, '/bin/true', ['true']) == 0",
    "the C library's shell": "import ctypes; assert ctypes.CDLL(None).system(b'true') == 0",
    "the C library's fork": "import ctypes, os\nchild = ctypes.CDLL(None).fork()\nif not child: os._exit(0)\nassert child > 0",
    "a fork": "import os\nif not os.fork(): os._exit(0)",
    "a raw fork": "import os\nif not syscall('fork'): os._exit(0)",
    "a raw clone": "import os\nif not syscall('clone', 17, 0, 0, 0, 0): os._exit(0)",
    "a raw clone with its memory, not as a thread": "import os\nif not syscall('clone', 0x4000 | 17, 0, 0, 0, 0): os._exit(0)",
    "a raw clone3": "import os, struct\nif not syscall('clone3', struct.pack('11Q', 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88): os._exit(0)",
    "a fork by the other table of numbers": "import os\nif not syscall('fork', plus=X32): os._exit(0)",
    "a fork by the old gate": f"{CODE.replace('@@', '02')}import os\nif result == 0: os._exit(0)\nassert result > 0, result",
    "a pool of processes": "import multiprocessing\nmultiprocessing.get_context('fork').Pool(1)",
    "a process of multiprocessing": "import multiprocessing as m\nc = m.get_context('fork').Process(target=len, args=('',)); c.start(); c.join()",
    "a background process in a session of its own": "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork(): time.sleep(0.2)\n    os._exit(0)",
}  # fmt: skip
STARTED = {
    name: Attack(
        f"{cell}\nanswer = 'started'",
        "error|killed",
        f"{BARRED}|AssertionError|BlockingIOError|FileNotFoundError|out of pty",
        "" if "X32" in cell else "anyone",
        alone="old gate" in name,  # which the call filter answers with the end of the process
    )
    for name, cell in STARTS.items()
}
INSTEAD = {
    "another program in its place": Attack("import os; os.execv('/bin/sh', ['sh', '-c', 'sleep 5'])", bare=""),
    "another program from memory": Attack(
        "import os\nwith open('/bin/true', 'rb') as file: code = file.read()\nmemory = syscall('memfd_create', b'x', 0)\n"
        "os.write(memory, code)\nos.execve(memory, ['true'], {})",
        bare="",
    ),
    "another program by a descriptor": Attack(
        "import os; syscall('execveat', os.open('/bin/true', os.O_RDONLY), b'', 0, 0, 0x1000)", bare=""
    ),
}
ENDS = {
    "leaving politely": Attack("import sys; sys.exit(0)", status="error", says="", bare=""),
    "leaving with an answer": Attack("answer = 1; raise SystemExit", status="error", says="", bare=""),
    "leaving at once": Attack("import os; answer = 1; os._exit(0)", status="error|killed", says="", bare=""),
    "leaving by a raw call": Attack("import ctypes; ctypes.CDLL(None)._exit(0)", status="error|killed", says="", bare=""),
    "an interrupt": Attack("raise KeyboardInterrupt", says="KeyboardInterrupt", bare=""),
    "the end of a generator": Attack("raise GeneratorExit", says="GeneratorExit", bare=""),
    "its own death": Attack("import os; os.kill(os.getpid(), 9)", status="error|killed", says="", bare=""),
    "its own abortion": Attack("import os; os.abort()", status="error|killed", says="", bare=""),
    "native code that reads nowhere": Attack("import ctypes; ctypes.string_at(1)", status="error|killed", says="", bare=""),
    "recursion without end": Attack("def f(): return f()\nf()", says="RecursionError", bare=""),
    "recursion in native code": Attack(
        "import sys; sys.setrecursionlimit(10**9)\ndef f(n): return f([n])\nf(1)",
        status="error|killed|timeout", says="", bare="", hasty=True,
    ),
    "deep text for the parser": Attack("eval('(' * 100000 + ')' * 100000)", status="error|killed", says="", bare=""),
    "deep text for the compiler": Attack("compile('-' * 3000000 + '1', 'x', 'eval')", status="error|killed", says="", bare=""),
}  # fmt: skip


DAEMONS = {
    "a process in a session of its own": Attack(
        "import os, time\ntry:\n    if not os.fork():\n        os.setsid()\n        if not os.fork(): time.sleep(60)\n        os._exit(0)\n"
        "except OSError: pass\nanswer = 1",
        "ok", "", "",
    ),
    "a process that keeps its parent's death to itself": Attack(
        "import os, time\ntry:\n    syscall('prctl', 1, 0, 0, 0, 0)\n    if not os.fork(): time.sleep(60)\nexcept OSError: pass\nwhile True: pass",
        "timeout", "", "", hasty=True,
    ),
    "a thread": Attack(
        "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); answer = 1",
        "ok|error", ".", "", alone=True,
    ),
    "files": Attack("import os\nfor n in range(20): os.mkdir(str(n)); open(f'{n}/x', 'w').write('x')\nanswer = 1", "ok", "", ""),
}  # fmt: skip
TABLES = {
    "no cell reaches another process or a secret of its own": Table(ELSEWHERE, brief=None, tried=True),
    "no cell starts a process": Table(STARTED, brief=None, tried=True),
    "nothing outlives its cell": Table(DAEMONS, brief=None),
    "no cell puts another program in its place": Table(INSTEAD, brief=None),
    "a cell that ends its process gives an error and the episode continues": Table(ENDS),
}
