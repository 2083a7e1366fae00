// SPDX-License-Identifier: GPL-2.0-or-later
// The same as words.c with what C++ has for it, exceptions included.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static char letter(int c)
{
	if (!std::isalpha(c))
		throw std::invalid_argument("no letter");
	return static_cast<char>(std::tolower(c));
}

int main(int argc, char **argv)
{
	std::ifstream file(argc > 1 ? argv[1] : "/dev/stdin");
	std::map<std::string, unsigned> count;
	std::string word;

	for (int c; (c = file.get()) != EOF;) {
		try {
			word += letter(c);
		} catch (const std::invalid_argument &) {
			if (!word.empty())
				count[word]++;
			word.clear();
		}
	}
	std::vector<std::pair<std::string, unsigned>> sorted(count.begin(), count.end());
	std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
		return a.second != b.second ? a.second > b.second : a.first < b.first;
	});
	if (sorted.size() > 20)
		sorted.resize(20);
	for (const auto &entry : sorted)
		std::printf("%4u %s\n", entry.second, entry.first.c_str());
}
