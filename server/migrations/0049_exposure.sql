-- run: statement by statement
-- The kinds of packages that a document contains, as `npm` and `deb/debian`. About others it says nothing.
alter table sboms add column if not exists package_types text[] collate "C" not null default '{}';

-- Advisories of distributions by the vulnerabilities that they are about.
create index concurrently if not exists intel_advisories_by_upstream
  on intel_advisories using gin (upstream) where upstream <> '{}';
-- Records name source packages.
create index concurrently if not exists components_by_source
  on components (org_id, source_name) where source_name is not null;
