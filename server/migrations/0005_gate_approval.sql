-- Whether policies approve a gate: true (those that it names), false, or "covering" (all that cover
-- the deployment; only gates from before have it). Null in rows that were stored before.
alter table configured_gates
  add column approve_by_policies jsonb check (approve_by_policies in ('true', 'false', '"covering"'));
alter table gate_versions
  add column approve_by_policies jsonb check (approve_by_policies in ('true', 'false', '"covering"'));
alter table required_gates
  add column approve_by_policies jsonb check (approve_by_policies in ('true', 'false', '"covering"'));
