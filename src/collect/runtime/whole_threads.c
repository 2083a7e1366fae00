// SPDX-License-Identifier: BSD-2-Clause
/* Libraries of gcc's ask for threads weakly: if one function of theirs is in a static program they
 * take all of them to be there. The runtime needs some, and so must bring the others. */
#ifdef LOCI_RT_STATIC
#include <pthread.h>
#include <signal.h>

typedef void function(void);

__attribute__((used, retain)) static function *const all[] = {
	(function *)pthread_cond_broadcast,
	(function *)pthread_cond_destroy,
	(function *)pthread_cond_init,
	(function *)pthread_cond_signal,
	(function *)pthread_cond_timedwait,
	(function *)pthread_cond_wait,
	(function *)pthread_detach,
	(function *)pthread_equal,
	(function *)pthread_getspecific,
	(function *)pthread_join,
	(function *)pthread_key_create,
	(function *)pthread_key_delete,
	(function *)pthread_mutex_destroy,
	(function *)pthread_mutex_init,
	(function *)pthread_mutex_lock,
	(function *)pthread_mutex_timedlock,
	(function *)pthread_mutex_trylock,
	(function *)pthread_mutex_unlock,
	(function *)pthread_mutexattr_destroy,
	(function *)pthread_mutexattr_init,
	(function *)pthread_mutexattr_settype,
	(function *)pthread_once,
	(function *)pthread_rwlock_rdlock,
	(function *)pthread_rwlock_tryrdlock,
	(function *)pthread_rwlock_trywrlock,
	(function *)pthread_rwlock_unlock,
	(function *)pthread_rwlock_wrlock,
	(function *)pthread_self,
	(function *)pthread_setspecific,
	(function *)pthread_sigmask,
};
#else
typedef int shared_programs_have_them;
#endif
