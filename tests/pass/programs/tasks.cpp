// SPDX-License-Identifier: GPL-2.0-or-later
/* Coroutines, lambdas, global constructors and destructors, thread_local objects with them. */
#include <cstdio>
#if __has_include(<coroutine>)
#include <coroutine>
#define STD std
#else
#include <experimental/coroutine>
#define STD std::experimental
#endif
#include <functional>
#include <thread>
#include <vector>

struct generator {
	struct promise_type {
		int value;
		generator get_return_object()
		{
			return generator{ STD::coroutine_handle<promise_type>::from_promise(
				*this) };
		}
		STD::suspend_always initial_suspend()
		{
			return {};
		}
		STD::suspend_always final_suspend() noexcept
		{
			return {};
		}
		STD::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
		}
	};
	STD::coroutine_handle<promise_type> handle;
};

static generator squares(int n)
{
	std::vector<int> seen;
	for (int i = 0; i < n; i++) {
		seen.push_back(i * i);
		co_yield seen.back() + (int)seen.size();
	}
}

struct counted {
	static int made;
	int number;
	counted() : number(++made)
	{
	}
	~counted()
	{
		made--;
	}
};
int counted::made;
static counted first, second;
static thread_local counted third;

int main()
{
	auto g = squares(20);
	int sum = 0;
	for (g.handle.resume(); !g.handle.done(); g.handle.resume())
		sum += g.handle.promise().value;
	g.handle.destroy();
	std::printf("%d\n", sum);
	std::vector<std::function<int(int)>> steps;
	for (int i = 0; i < 10; i++)
		steps.push_back([i, &sum](int x) { return x * i + sum % 7; });
	int x = 1;
	for (auto &step : steps)
		x = step(x) % 1000;
	std::printf("%d %d\n", x, second.number);
	std::thread([&] { sum += third.number; }).join();
	std::printf("%d %d\n", sum > 0, counted::made >= 2);
	return 0;
}
