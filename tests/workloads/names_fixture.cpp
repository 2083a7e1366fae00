// SPDX-License-Identifier: GPL-2.0-or-later
// C++ as compilers meet it: see names_fixture.h and the marks of names_fixture.c.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <link.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shapes
{
template <class T> struct Node {
	T key;
	Node *next;
	static int count;
	void push(T value);
	virtual ~Node() = default;
};
template <class T> int Node<T>::count = 3;

struct Base {
	int base_value;
};
struct Derived : Base {
	float extra[3];
	class Inner
	{
	      public:
		int depth;
	} inner;
};
int total;
Derived derived;
namespace
{
short hidden[12];
}
} // namespace shapes

static uintptr_t bias;

static int first_module(struct dl_phdr_info *info, size_t, void *)
{
	bias = info->dlpi_addr;
	return 1;
}

static bool talk;

__attribute__((noinline)) void *operator new(std::size_t bytes)
{
	if (talk)
		printf("alloc %lx\n",
			(unsigned long)((uintptr_t)__builtin_return_address(0) - bias));
	return calloc(1, bytes);
}

__attribute__((noinline)) void operator delete(void *pointer) noexcept
{
	free(pointer);
}

__attribute__((noinline)) void operator delete(void *pointer, std::size_t) noexcept
{
	free(pointer);
}

// The marks stay on their lines.
// clang-format off
template <class T> __attribute__((noinline)) void shapes::Node<T>::push(T value)
{
	static int calls;

	next = new Node<T>; //= next shapes::Node<int>
	next->key = value + ++calls;
}

struct OwnerBase {
	shapes::Node<int> *spare;
};

struct Owner : OwnerBase {
	std::unique_ptr<shapes::Derived> held;
	std::vector<shapes::Node<int> *> list;
	__attribute__((noinline)) void fill()
	{
		held.reset(new shapes::Derived); //= held shapes::Derived
		list.push_back(nullptr);
		spare = new shapes::Node<int>; //= spare shapes::Node<int>
		list[0] = new shapes::Node<int>(); //= list[0] shapes::Node<int>
	}
};

__attribute__((noinline)) static int use(int n)
{
	auto *node = new shapes::Node<int>; //= node shapes::Node<int>
	auto owned =
		std::unique_ptr<shapes::Derived>(new shapes::Derived); //= owned shapes::Derived
	std::vector<double> values(n * 10);
	Owner owner;

	node->push(n);
	owner.fill();
	std::sort(values.begin(), values.end(), [](double a, double b) { return a > b; });
	shapes::hidden[n] = (short)values[0];
	shapes::total += shapes::Node<int>::count + node->next->key;
	shapes::derived.inner.depth = shapes::total;
	return shapes::hidden[1] + owner.list[0]->key;
}
// clang-format on

int main(int argc, char **)
{
	setvbuf(stdout, nullptr, _IONBF, 0);
	dl_iterate_phdr(first_module, nullptr);
	talk = true;
	std::map<std::string, int> map;
	map["key"] = use(argc);
	return map["key"] == 1000;
}
