-- The status that an attempt has after its deadline: that of the attempt before it, where the next job of
-- the same run began it without saying how it ends. Null for timed_out.
alter table ci_runs add column overdue_status text;
alter table ci_run_attempts add column overdue_status text;
