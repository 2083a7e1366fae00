/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_RUNTIME_NESTED_HANDLERS_H
#define TESTS_RUNTIME_NESTED_HANDLERS_H

#include <sys/syscall.h>

/* Calls by which step_into.c knows where the program is, and the answer to the last of them. */
#define SIGN_BEGINS SYS_getpgrp
#define SIGN_ENDS   SYS_getegid
#define ANSWER_LAST 123456789

#endif
