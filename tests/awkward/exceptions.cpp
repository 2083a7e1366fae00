// SPDX-License-Identifier: GPL-2.0-or-later
// Exceptions through frames with destructors, rethrown, out of constructors, and one nobody
// catches.
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static int destroyed;

struct guard {
	std::string text;
	explicit guard(int n) : text(static_cast<size_t>(n % 50), 'x')
	{
		if (n == 13)
			throw std::runtime_error("thirteen");
	}
	~guard()
	{
		destroyed++;
	}
};

static int deep(int n, int at)
{
	guard g(n);
	if (n == at)
		throw n;
	return deep(n + 1, at) + static_cast<int>(g.text.size());
}

// NOLINTNEXTLINE(bugprone-exception-escape): one is not caught, on purpose
int main(int argc, char **argv)
{
	int caught = 0, rethrown = 0;
	for (int i = 0; i < 100; i++) {
		try {
			try {
				deep(0, i);
			} catch (int) {
				caught++;
				throw;
			}
		} catch (const std::exception &) {
			rethrown += 1000;
		} catch (...) {
			rethrown++;
		}
	}
	std::printf("%d caught, %d rethrown, %d destroyed\n", caught, rethrown, destroyed);
	std::map<std::string, std::vector<int>> map;
	for (int i = 0; i < 2000; i++)
		map[std::to_string(i % 97)].push_back(i);
	auto shared = std::make_shared<std::vector<long>>(1000, 7);
	std::printf("%zu keys, %ld\n", map.size(), (*shared)[999]);
	std::fflush(stdout);
	if (argc > 1 && !std::strcmp(argv[1], "uncaught"))
		throw 5;
	return 0;
}
