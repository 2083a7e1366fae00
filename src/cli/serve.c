// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS     32
#define REQUEST_MAX 8192
#define HEAD_MAX    1024
#define SILENCE_MS  10000 /* for the request, and between two pieces of the answer */

struct client {
	int fd; /* -1: free */
	int64_t deadline_ms;
	char request[REQUEST_MAX];
	size_t received;
	char head[HEAD_MAX];
	size_t head_length, sent; /* head first, then the page */
	bool answers, has_page;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static int fill_token(char token[LOCI_SERVE_TOKEN + 1], struct loci_err *err)
{
	unsigned char random[LOCI_SERVE_TOKEN / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return loci_err_set(
			err, errno ? errno : EIO, "no random numbers: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(random); i++)
		sprintf(token + 2 * i, "%02x", random[i]);
	return 0;
}

int loci_server_open(
	struct loci_server *server, const char *page, size_t length, struct loci_err *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int r;

	*server = (struct loci_server){ .fd = -1, .page = page, .length = length };
	r = fill_token(server->token, err);
	if (r < 0)
		return r;
	server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->fd < 0 || bind(server->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(server->fd, CLIENTS) < 0 ||
		getsockname(server->fd, (struct sockaddr *)&address, &size) < 0) {
		r = loci_err_set(err, errno, "cannot listen on 127.0.0.1: %s", strerror(errno));
		loci_server_close(server);
		return r;
	}
	server->port = ntohs(address.sin_port);
	return 0;
}

void loci_server_close(struct loci_server *server)
{
	if (server->fd >= 0)
		close(server->fd);
	server->fd = -1;
}

/* The value of a header, or NULL; ends where the line does. *ret_n: how often it is there. */
static const char *header(
	const char *request, const char *name, size_t *ret_length, unsigned *ret_n)
{
	const char *found = NULL;
	size_t length = strlen(name);

	*ret_n = 0;
	for (const char *line = strstr(request, "\r\n"); line; line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, length) || line[length] != ':')
			continue;
		found = line + length + 1;
		found += strspn(found, " \t");
		*ret_length = strcspn(found, "\r\n");
		while (*ret_length && strchr(" \t", found[*ret_length - 1]))
			--*ret_length;
		++*ret_n;
	}
	return found;
}

/* A page elsewhere that had this machine's address under its own name (DNS rebinding) would send
 * that name. */
static bool is_this_host(const struct loci_server *server, const char *request)
{
	char names[2][32];
	size_t length = 0;
	unsigned n;
	const char *host = header(request, "Host", &length, &n);

	snprintf(names[0], sizeof(names[0]), "127.0.0.1:%u", server->port);
	snprintf(names[1], sizeof(names[1]), "localhost:%u", server->port);
	for (unsigned i = 0; n == 1 && i < 2; i++)
		if (length == strlen(names[i]) && !strncasecmp(host, names[i], length))
			return true;
	return false;
}

/* Takes as long for a guess that is nearly right as for any other. */
static bool is_page(const struct loci_server *server, const char *target, size_t length)
{
	char path[LOCI_SERVE_TOKEN + 3];
	unsigned differs = 0;

	snprintf(path, sizeof(path), "/%s/", server->token);
	if (length != sizeof(path) - 1)
		return false;
	for (size_t i = 0; i < length; i++)
		differs |= (unsigned char)(path[i] ^ target[i]);
	return !differs;
}

/* "200 OK", or why not. The request ends with an empty line and holds no NUL. */
static const char *judge(const struct loci_server *server, const char *request)
{
	const char *target = strchr(request, ' ');
	size_t line = strcspn(request, "\r\n"), length;

	if (!target || (size_t)(target - request) >= line)
		return "400 Bad Request";
	target++;
	length = strcspn(target, " \r\n");
	if (strncmp(target + length, " HTTP/1.", 8) ||
		(size_t)(target + length + 9 - request) != line)
		return "400 Bad Request";
	if (!is_this_host(server, request))
		return "403 Forbidden";
	if (strncmp(request, "GET ", 4))
		return "405 Method Not Allowed";
	return is_page(server, target, length) ? "200 OK" : "404 Not Found";
}

static void answer(const struct loci_server *server, struct client *client, const char *status)
{
	client->has_page = !strncmp(status, "200", 3);
	client->answers = true;
	client->head_length = (size_t)snprintf(client->head, sizeof(client->head),
		"HTTP/1.1 %s\r\n"
		"Content-Type: %s; charset=utf-8\r\n"
		"Content-Length: %zu\r\n"
		"Connection: close\r\n"
		"Cache-Control: no-store\r\n"
		"X-Content-Type-Options: nosniff\r\n"
		"Referrer-Policy: no-referrer\r\n"
		"Cross-Origin-Resource-Policy: same-origin\r\n"
		"Cross-Origin-Opener-Policy: same-origin\r\n"
		"Content-Security-Policy: frame-ancestors 'none'\r\n"
		"%s\r\n%s%s",
		status, client->has_page ? "text/html" : "text/plain",
		client->has_page ? server->length : strlen(status) + 1,
		strncmp(status, "405", 3) ? "" : "Allow: GET\r\n", client->has_page ? "" : status,
		client->has_page ? "" : "\n");
}

static void drop(struct client *client)
{
	close(client->fd);
	client->fd = -1;
}

static void receive(const struct loci_server *server, struct client *client)
{
	size_t room = sizeof(client->request) - 1 - client->received;
	ssize_t n = recv(client->fd, client->request + client->received, room, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(client);
		return;
	}
	client->received += (size_t)n;
	client->request[client->received] = '\0';
	if (memchr(client->request, '\0', client->received))
		answer(server, client, "400 Bad Request");
	else if (strstr(client->request, "\r\n\r\n"))
		answer(server, client, judge(server, client->request));
	else if ((size_t)n == room)
		answer(server, client, "431 Request Header Fields Too Large");
	if (client->answers)
		client->deadline_ms = now_ms() + SILENCE_MS;
}

/* The end of an answer is told, and what else the client says is thrown away, until it goes:
 * closing on unread bytes would take the answer back. */
static void linger(struct client *client)
{
	char waste[4096];
	ssize_t n = recv(client->fd, waste, sizeof(waste), 0);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		drop(client);
}

static bool is_sent(const struct loci_server *server, const struct client *client)
{
	return client->sent == client->head_length + (client->has_page ? server->length : 0);
}

static void send_on(const struct loci_server *server, struct client *client)
{
	bool in_head = client->sent < client->head_length;
	const char *from = in_head ? client->head + client->sent
				   : server->page + (client->sent - client->head_length);
	size_t left = in_head ? client->head_length - client->sent
			      : client->head_length + server->length - client->sent;
	ssize_t n = send(client->fd, from, left, MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(client);
		return;
	}
	client->sent += (size_t)n;
	client->deadline_ms = now_ms() + SILENCE_MS;
	if (is_sent(server, client)) {
		shutdown(client->fd, SHUT_WR);
		client->deadline_ms = now_ms() + 1000;
	}
}

/* Where all places are taken, the one that has waited longest makes room. */
static void welcome(const struct loci_server *server, struct client *client)
{
	struct client *place = &client[0];
	int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (unsigned i = 0; i < CLIENTS && place->fd >= 0; i++)
		if (client[i].fd < 0 || client[i].deadline_ms < place->deadline_ms)
			place = &client[i];
	if (place->fd >= 0)
		drop(place);
	*place = (struct client){ .fd = fd, .deadline_ms = now_ms() + SILENCE_MS };
}

static void serve_client(const struct loci_server *server, struct client *client, short events)
{
	if (client->deadline_ms <= now_ms())
		drop(client);
	else if (!events)
		return;
	else if (!client->answers)
		receive(server, client);
	else if (is_sent(server, client))
		linger(client);
	else
		send_on(server, client);
}

int loci_server_run(struct loci_server *server, int stop_fd, struct loci_err *err)
{
	static struct client client[CLIENTS];
	struct pollfd wait[CLIENTS + 2];

	for (unsigned i = 0; i < CLIENTS; i++)
		client[i].fd = -1;
	for (;;) {
		wait[CLIENTS] = (struct pollfd){ .fd = server->fd, .events = POLLIN };
		wait[CLIENTS + 1] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
		for (unsigned i = 0; i < CLIENTS; i++)
			wait[i] = (struct pollfd){ .fd = client[i].fd,
				.events = client[i].answers && !is_sent(server, &client[i])
					? POLLOUT
					: POLLIN };
		if (poll(wait, CLIENTS + 2, 1000) < 0 && errno != EINTR)
			return loci_err_set(
				err, errno, "waiting for requests: %s", strerror(errno));
		if (wait[CLIENTS + 1].revents)
			break;
		for (unsigned i = 0; i < CLIENTS; i++)
			if (client[i].fd >= 0)
				serve_client(server, &client[i], wait[i].revents);
		if (wait[CLIENTS].revents)
			welcome(server, client);
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		if (client[i].fd >= 0)
			drop(&client[i]);
	return 0;
}
