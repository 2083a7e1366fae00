-- SPDX-License-Identifier: GPL-2.0-or-later
-- Queries of every sort on a table of as many rows as the table `size` says: load, index, join, group,
-- sort, update, delete, text search, window, common table expression. Prints the same every time.
create table t(a integer primary key, b int, c text, d real);
with recursive s(i) as (select 1 union all select i + 1 from s where i < (select rows from size))
	insert into t select i, (i * 7919) % 100003, 'row ' || i, i * 0.25 from s;
create index tb on t(b);
create index tc on t(c);
select count(*), sum(y.d) from t x join t y on x.b = y.b where x.a % 7 = 0;
select count(*), sum(x.d) from t x join t y on y.a = x.b % 1000 + 1;
select b % 1000, count(*), sum(length(c)) from t group by 1 order by 2 desc, 1 limit 5;
select c from t order by c desc limit 3 offset 1000;
update t set c = c || 'x', d = d + 1 where b < 20000;
select count(distinct c), max(c), min(c) from t;
delete from t where a % 5 = 0;
select count(*) from t where c like '%77%' and d > 10;
select sum(r) from (select row_number() over (partition by b % 100 order by d) as r from t);
with recursive p(i, x) as (select 1, 1 union all select i + 1, (x * 1103515245 + 12345) % 2147483648
	from p where i < (select rows from size))
	select count(distinct x % 4096), sum(hex(x) like '%F%') from p;
insert into t(b, c, d) select b, 'again ' || c, d from t where a % 3 = 0;
select count(*), sum(b), total(d), group_concat(substr(c, 1, 2)) from (select * from t order by d, a limit 20);
