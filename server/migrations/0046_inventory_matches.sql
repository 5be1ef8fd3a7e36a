-- run: statement by statement
-- Findings of the inventory (docs/inventory.md, "Matches"). Their streams are told apart from those of
-- reports and of alerts. In a preview, findings are shown and count nowhere.
alter table finding_streams
  add column if not exists preview boolean not null default false;

create unique index concurrently if not exists finding_streams_by_identity on finding_streams (
  org_id, repository_no, coalesce(category, ''), branch_name(git_ref), coalesce(tool_family, ' ' || tool),
  coalesce(format_family, ''), coalesce(subject, ''),
  (origin = 'alert'), (origin = 'inventory'), coalesce(lane, 'key')
);

drop index concurrently if exists finding_streams_by_key;

-- What a finding of the inventory matches, and why it ended. A component has one open finding for each
-- vulnerability and file of a stream.
create table if not exists inventory_matches (
  org_id uuid not null,
  finding_id uuid not null,
  stream_id bigint not null,
  component_no bigint not null,
  -- The package as advisories name it: the source package, where an ecosystem names those.
  package_key text not null,
  canonical_id text collate "C" not null,
  -- Of component, file and vulnerability.
  match_hash bytea not null check (length(match_hash) = 16),
  ended_as text check (
    ended_as in (
      'component_removed', 'version_changed', 'advisory_corrected', 'advisory_withdrawn', 'stream_ended', 'merged',
      'matching_off'
    )
  ),
  primary key (org_id, finding_id),
  foreign key (org_id, finding_id) references findings (org_id, id)
);
create unique index concurrently if not exists inventory_matches_open
  on inventory_matches (org_id, stream_id, match_hash) where ended_as is null;
create index concurrently if not exists inventory_matches_by_package
  on inventory_matches (org_id, stream_id, package_key);

create index concurrently if not exists components_by_source
  on components (org_id, source_name) where source_name is not null;

-- Organizations that were there before see first what would count.
alter table organizations
  add column if not exists inventory_matching text not null default 'preview';
alter table organizations
  alter column inventory_matching set default 'on',
  drop constraint if exists organizations_inventory_matching_check,
  add constraint organizations_inventory_matching_check check (inventory_matching in ('on', 'preview', 'off'));

-- The packages of which advisories or the names of their vulnerabilities changed, in the order of the
-- imports. A package that changes again gets a new number.
create table if not exists intel_package_changes (
  ecosystem text collate "C" not null,
  package_key text collate "C" not null,
  no bigint not null,
  primary key (ecosystem, package_key)
);
create index concurrently if not exists intel_package_changes_by_no on intel_package_changes (no);

-- How far the matches of an organization are. All scopes have to be matched if `is_due`. The changes of
-- packages are followed in batches: up to the number `followed_until` all are; those up to
-- `batch_until` in the scopes with documents up to `scope_after`.
create table if not exists matching_progress (
  org_id uuid not null primary key,
  is_due boolean not null,
  followed_until bigint not null,
  batch_until bigint,
  scope_after bigint not null default 0
);
insert into matching_progress (org_id, is_due, followed_until)
select id, true, 0
from organizations
on conflict do nothing;
