-- run: statement by statement
-- Retention finds old requests of code hosts for an approval.
create index concurrently if not exists deployment_gate_requests_by_time
  on deployment_gate_requests (org_id, requested_at);
