-- The roles of Shiplock, each with the least privileges that it needs (docs/operations/security.md):
--
--   shiplock_owner   owns the tables: migrate, backup and restore, and administrative commands
--   shiplock_app     server processes: reads and writes rows, and deletes only what the API deletes
--   shiplock_worker  worker processes: also deletes rows that have expired
--   shiplock_read    reads rows, except those with secrets: replicas and figures
--
-- Run it as a superuser, in one transaction, before the first `migrate` and after every one. It can
-- be run at any time: privileges do not change while it runs.
--
--   psql "$ADMIN_DATABASE_URL" --single-transaction --set ON_ERROR_STOP=1 --file deploy/postgres/roles.sql

do $$
declare
  name text;
begin
  foreach name in array array['shiplock_owner', 'shiplock_app', 'shiplock_worker', 'shiplock_read'] loop
    begin
      if not exists (select from pg_roles where rolname = name) then
        execute format('create role %I login nosuperuser nocreatedb nocreaterole noreplication', name);
      end if;
    exception when duplicate_object or unique_violation then
      null; -- Another database of this server was set up at the same time.
    end;
  end loop;
  if not (select rolsuper from pg_roles where rolname = current_user) then
    execute format('grant shiplock_owner to %I', current_user);
  end if;
end
$$;
grant shiplock_app to shiplock_worker;

do $$
begin
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect, create, temporary on database %I to shiplock_owner', current_database());
  execute format('grant connect, temporary on database %I to shiplock_app', current_database());
  execute format('grant connect on database %I to shiplock_read', current_database());
end
$$;
revoke all on schema public from public, shiplock_app, shiplock_worker, shiplock_read;
grant usage, create on schema public to shiplock_owner;
grant usage on schema public to shiplock_app, shiplock_read;

-- What another role has created, for example by `start` on this database, gets the owner.
do $$
declare
  item record;
begin
  for item in
    select format('alter table %s owner to shiplock_owner', class.oid::regclass) as command
    from pg_class class
    where class.relnamespace = to_regnamespace('public')
      and class.relkind in ('r', 'p', 'v', 'm')
      and class.relowner <> 'shiplock_owner'::regrole
    union all
    select format('alter routine %s owner to shiplock_owner', routine.oid::regprocedure)
    from pg_proc routine
    where routine.pronamespace = to_regnamespace('public')
      and routine.proowner <> 'shiplock_owner'::regrole
  loop
    execute item.command;
  end loop;
end
$$;

revoke all on all tables in schema public from shiplock_app, shiplock_worker, shiplock_read;
grant select on all tables in schema public to shiplock_app, shiplock_read;

-- What the code of this version writes. Written by `npm run roles --workspace server`, and compared
-- with the code by a test.
do $$
declare
  needed record;
begin
  for needed in
    select *
    from (values
      -- BEGIN
      ('abandoned_objects', 'insert, update, delete'),
      ('alert_findings', 'insert, update'),
      ('allowed_hosts', 'insert, update, delete'),
      ('api_keys', 'insert, update'),
      ('audit_entries', 'insert'),
      ('chain_anchors', 'insert, update'),
      ('chain_breaks', 'insert, update'),
      ('chain_links', 'insert, update (body, tombstone, mac)'),
      ('change_commits', 'insert'),
      ('changes', 'insert, update'),
      ('ci_artifacts', 'insert, update, delete'),
      ('ci_attestations', 'insert, update, delete'),
      ('ci_reports', 'insert, update'),
      ('ci_run_attempts', 'insert, update, delete'),
      ('ci_run_writers', 'insert, update'),
      ('ci_runs', 'insert, update'),
      ('codehost_app_setups', 'insert, update, delete'),
      ('codehost_apps', 'insert, update'),
      ('codehost_calls', 'insert, update'),
      ('codehost_connections', 'insert, update'),
      ('codehost_deliveries', 'insert, update'),
      ('codehost_delivery_checks', 'insert, update'),
      ('codehost_installation_repositories', 'insert, update'),
      ('codehost_installations', 'insert, update'),
      ('codehost_redeliveries', 'insert, update, delete'),
      ('codehost_refusals', 'insert, update, delete'),
      ('codehost_sync_lists', 'insert, update, delete'),
      ('codehost_sync_repositories', 'insert, update, delete'),
      ('codehost_syncs', 'insert, update'),
      ('commit_checks', 'insert, update'),
      ('compliance_results', 'insert, update, delete'),
      ('component_facts', 'insert'),
      ('components', 'insert'),
      ('configured_gates', 'insert, update, delete'),
      ('custom_roles', 'insert, update, delete'),
      ('delivery_days', 'insert, delete'),
      ('deployment_answers', 'insert'),
      ('deployment_environments', 'insert, update'),
      ('deployment_gate_requests', 'insert, update'),
      ('deployment_reviews', 'insert, update'),
      ('deployment_runs', 'insert, update'),
      ('deployment_statuses', 'insert, update'),
      ('deployments', 'insert, update'),
      ('environment_facts', 'insert, delete'),
      ('events', 'insert'),
      ('finding_streams', 'insert, update, delete'),
      ('findings', 'insert, update'),
      ('gate_polls', 'insert, update, delete'),
      ('gate_versions', 'insert, update'),
      ('intel_advisories', 'insert, update'),
      ('intel_affected', 'insert, delete'),
      ('intel_epss', 'insert, update, delete'),
      ('intel_fixes', 'insert, delete'),
      ('intel_kev', 'insert, update, delete'),
      ('intel_sources', 'update'),
      ('inventory_streams', 'insert, update'),
      ('issue_days', 'insert, update'),
      ('issue_edits', 'insert, delete'),
      ('issue_history', 'insert'),
      ('issue_pins', 'insert, delete'),
      ('issue_regroup_due', 'insert, delete'),
      ('issue_regroup_findings', 'insert, delete'),
      ('issue_regroup_issues', 'insert, delete'),
      ('issue_regroups', 'insert, update'),
      ('issue_rule_changes', 'delete'),
      ('job_schedules', 'insert, update'),
      ('jobs', 'insert, update, delete'),
      ('joined_buckets', 'insert, update'),
      ('known_browsers', 'insert, update, delete'),
      ('landings', 'insert, update'),
      ('links', 'insert, update, delete'),
      ('live_deployments', 'insert, update, delete'),
      ('log_checkpoints', 'insert, update (mac)'),
      ('log_entries', 'insert, update (leaf_index, mac)'),
      ('log_key', 'insert'),
      ('log_tiles', 'insert, update'),
      ('member_accounts', 'insert, update, delete'),
      ('members', 'insert, update, delete'),
      ('monthly_usage', 'insert, update'),
      ('oidc_trusts', 'insert, update'),
      ('opened_gates', 'insert, update'),
      ('organizations', 'insert, update'),
      ('passkey_challenges', 'insert, delete'),
      ('passkeys', 'insert, update, delete'),
      ('pending_changes', 'insert, delete'),
      ('policies', 'insert, update'),
      ('policy_bundles', 'insert, update'),
      ('policy_versions', 'insert, update'),
      ('provenance_chains', 'insert, update'),
      ('provider_accounts', 'insert, update'),
      ('provider_run_attempts', 'insert, update'),
      ('provider_run_jobs', 'insert, update'),
      ('provider_run_scores', 'insert, update, delete'),
      ('provider_runs', 'insert, update'),
      ('pull_request_heads', 'insert'),
      ('pull_request_reviews', 'insert, update'),
      ('pull_requests', 'insert, update'),
      ('pushed_commits', 'insert'),
      ('pushes', 'insert, update'),
      ('recovery_codes', 'insert, update, delete'),
      ('replica_marks', 'insert, update'),
      ('reported_repositories', 'insert, update'),
      ('repositories', 'insert, update'),
      ('repository_policy_sources', 'insert, update'),
      ('request_counts', 'insert, update, delete'),
      ('required_gates', 'insert, update, delete'),
      ('retention_kinds', 'insert, update'),
      ('retention_state', 'insert, update'),
      ('run_days', 'insert, delete'),
      ('saved_views', 'insert, delete'),
      ('sbom_commits', 'insert, update'),
      ('sboms', 'insert, update'),
      ('security_alerts', 'insert, update'),
      ('security_issues', 'insert, update, delete'),
      ('security_upload_lanes', 'insert, update'),
      ('security_uploads', 'insert, update'),
      ('sign_in_attempts', 'insert, update, delete'),
      ('signing_keys', 'insert, update (retired_at, mac)'),
      ('single_sign_on', 'insert, update, delete'),
      ('sso_identities', 'insert, update, delete'),
      ('sso_requests', 'insert, update, delete'),
      ('statements', 'insert, update (mac), delete'),
      ('trend_progress', 'insert, update'),
      ('triage_alerts', 'insert, update'),
      ('triage_findings', 'insert, update, delete'),
      ('triages', 'insert, update'),
      ('trust_events', 'insert, update'),
      ('trust_pins', 'insert, update, delete'),
      ('unscored_provider_runs', 'insert, delete'),
      ('unstated_proxies', 'insert, update, delete'),
      ('user_passwords', 'insert, update, delete'),
      ('user_sessions', 'insert, update, delete'),
      ('user_totp', 'insert, update, delete'),
      ('users', 'insert, update'),
      ('vex_documents', 'insert, update, delete'),
      ('vex_exports', 'insert, update'),
      ('vex_statements', 'insert, update, delete'),
      ('vulnerability_alias_changes', 'insert, delete'),
      ('vulnerability_aliases', 'insert, update, delete'),
      ('vulnerability_assertions', 'insert, delete'),
      ('workflow_files', 'insert')
      -- END
    ) as needed (name, verbs)
  loop
    if to_regclass('public.' || needed.name) is not null then
      execute format('grant %s on public.%I to shiplock_app', needed.verbs, needed.name);
    end if;
  end loop;
end
$$;

-- Retention runs in workers. Nothing removes the hash chains, the transparency log and its key.
-- A trigger refuses the deletion of audit entries that have not expired.
do $$
declare
  expiring record;
begin
  for expiring in
    select class.oid::regclass as name
    from pg_class class
    where class.relnamespace = 'public'::regnamespace
      and class.relkind in ('r', 'p')
      and (
        class.relname = 'codehost_deliveries'
        or exists (
          select
          from pg_attribute attribute
          where attribute.attrelid = class.oid
            and attribute.attname = 'org_id'
            and not attribute.attisdropped
        )
      )
      and class.relname not in ('provenance_chains', 'chain_links', 'chain_anchors', 'chain_breaks')
  loop
    execute format('grant delete on %s to shiplock_worker', expiring.name);
  end loop;
end
$$;

-- Hashes of credentials, sealed keys and sealed secrets.
do $$
declare
  name text;
begin
  foreach name in array array[
    'api_keys', 'codehost_app_setups', 'codehost_apps', 'links', 'log_key', 'passkey_challenges', 'passkeys',
    'recovery_codes', 'signing_keys', 'single_sign_on', 'sso_requests', 'user_passwords', 'user_sessions', 'user_totp'
  ] loop
    if to_regclass('public.' || name) is not null then
      execute format('revoke all on public.%I from shiplock_read', name);
    end if;
  end loop;
end
$$;
