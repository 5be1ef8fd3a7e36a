-- run: statement by statement
-- What credentials and people said of a deployment: `{trust, status, version, url, by, at}`, oldest first.
alter table deployments add column if not exists marks jsonb not null default '[]';
alter table deployments
  drop constraint if exists deployments_marks_check,
  add constraint deployments_marks_check check (jsonb_typeof(marks) = 'array') not valid;
alter table deployments validate constraint deployments_marks_check;

alter table opened_gates
  -- The lane of who opened the gate, which can differ from that of the run. Null for older gates.
  add column if not exists opener_lane text,
  -- Null for the default.
  add column if not exists timeout_minutes smallint;
alter table opened_gates
  drop constraint if exists opened_gates_opener_lane_check,
  add constraint opened_gates_opener_lane_check
    check (opener_lane in ('verified', 'self_reported', 'untrusted')) not valid,
  drop constraint if exists opened_gates_timeout_minutes_check,
  add constraint opened_gates_timeout_minutes_check check (timeout_minutes between 5 and 720) not valid;
alter table opened_gates validate constraint opened_gates_opener_lane_check;
alter table opened_gates validate constraint opened_gates_timeout_minutes_check;

-- Since when environments are production by the parts of their names. Null: always, as in
-- organizations that are made after this.
alter table organizations add column if not exists production_rule_since timestamptz(3);
update organizations set production_rule_since = now() where production_rule_since is null;

-- GitHub and Azure ask for an environment in another spelling than its deployment has.
create index concurrently if not exists deployment_gate_requests_by_environment
  on deployment_gate_requests (org_id, provider, repository_id, lower(environment));
