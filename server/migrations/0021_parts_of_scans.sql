-- run: statement by statement
-- When the first report of the newest commit was read, if others of the same commit followed it
-- (decisions.md §7, "add up"): the first report of the next commit closes nothing that one of them
-- had. Null if there was only one.
alter table finding_streams add column if not exists parts_since timestamptz(3);

-- Undoing a regroup reads the dismissals that it ended.
create index concurrently if not exists triage_findings_by_regroup
  on triage_findings (org_id, regroup_id)
  where regroup_id is not null;
