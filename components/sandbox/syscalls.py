"""System calls that a cell may make, as ``name:number on x86_64:number on aarch64`` (empty: not there).

Source: the kernel's asm/unistd_64.h and asm-generic/unistd.h, which never change a number once given.
"""

ALLOWED = """
    read:0:63 write:1:64 close:3:57 fstat:5:80 lseek:8:62 mmap:9:222 mprotect:10:226 munmap:11:215 brk:12:214
    rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigpending:127:136 rt_sigtimedwait:128:137
    rt_sigsuspend:130:133 sigaltstack:131:132 pread64:17:67 pwrite64:18:68 readv:19:65 writev:20:66 preadv:295:69
    pwritev:296:70 preadv2:327:286 pwritev2:328:287 sched_yield:24:124 mremap:25:216 msync:26:227 mincore:27:232
    madvise:28:233 mlock:149:228 munlock:150:229 dup:32:23 dup2:33: dup3:292:24 nanosleep:35:101
    clock_nanosleep:230:115 getitimer:36:102 setitimer:38:103 getpid:39:172 gettid:186:178 getppid:110:173
    getuid:102:174 geteuid:107:175 getgid:104:176 getegid:108:177 getgroups:115:158 getresuid:118:148
    getresgid:120:150 getpgrp:111: getpgid:121:155 getsid:124:156 exit:60:93 exit_group:231:94 uname:63:160
    fsync:74:82 fdatasync:75:83 ftruncate:77:46 truncate:76:45 fallocate:285:47 getdents64:217:61 getdents:78:
    getcwd:79:17 chdir:80:49 fchdir:81:50 rename:82: renameat:264:38 renameat2:316:276 mkdir:83: mkdirat:258:34
    rmdir:84: unlink:87: unlinkat:263:35 symlink:88: symlinkat:266:36 readlink:89: readlinkat:267:78
    creat:85: access:21: faccessat:269:48 faccessat2:439:439 stat:4: lstat:6: newfstatat:262:79
    statx:332:291 statfs:137:43 fstatfs:138:44 umask:95:166 gettimeofday:96:169 time:201: times:100:153
    getrusage:98:165 sysinfo:99:179 clock_gettime:228:113 clock_getres:229:114 getcpu:309:168
    sched_getaffinity:204:123 futex:202:98 set_tid_address:218:96 set_robust_list:273:99 rseq:334:293
    restart_syscall:219:128 arch_prctl:158: getrandom:318:278 membarrier:324:283 pipe:22: pipe2:293:59 poll:7:
    ppoll:271:73 select:23: pselect6:270:72 epoll_create:213: epoll_create1:291:20 epoll_ctl:233:21 epoll_wait:232:
    epoll_pwait:281:22 eventfd:284: eventfd2:290:19 sendfile:40:71 copy_file_range:326:285 fadvise64:221:223
    readahead:187:213 close_range:436:436 pause:34: alarm:37: recvfrom:45:207 recvmsg:47:212 shutdown:48:210
    getsockopt:55:209 getsockname:51:204 getpeername:52:205 getrlimit:97:163
"""
# Allowed for some arguments only; components.sandbox.seccomp says which.
CHECKED = """
    clone:56:220 clone3:435:435 ioctl:16:29 fcntl:72:25 prctl:157:167 prlimit64:302:261 kill:62:129 tgkill:234:131
    socketpair:53:199 sendto:44:206 open:2: openat:257:56
"""


def numbers(table: str, machine: str) -> dict[str, int]:
    """Name -> number on this machine, of those it has."""
    rows = (entry.split(":") for entry in table.split())
    column = {"x86_64": 1, "aarch64": 2}[machine]
    return {row[0]: int(row[column]) for row in rows if row[column]}
