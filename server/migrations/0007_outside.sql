-- Private hosts that tenants may name although SHIPLOCK_ALLOWED_NETWORKS does not: those in use before
-- private addresses were refused, and those that the operator names on the command line. `networks`
-- is null until the next start of a server has looked the name up; until then the host is not allowed.
create table allowed_hosts (
  origin text primary key check (length(origin) between 1 and 600),
  networks text[] check (cardinality(networks) between 1 and 100),
  found_at timestamptz(3) not null default now()
);

-- Only what is in use: an issuer whose tokens were accepted or that the operator has chosen, and a
-- provider by which somebody has signed in. What has never worked may be somebody's look around.
insert into allowed_hosts (origin)
select distinct regexp_replace(
    lower(substring(issuer from '^[^/]+//[^/?#]+')), '^(https://.*):443$|^(http://.*):80$', '\1\2'
  )
from (
  select issuer
  from oidc_trusts
  where revoked_at is null
    and (expires_at is null or expires_at > now())
    and (last_used_at is not null or created_by_user_id is null)
  union all
  select issuer
  from single_sign_on provider
  where exists (
    select
    from sso_identities identity
    where identity.org_id = provider.org_id
      and identity.issuer = provider.issuer
  )
) used
where issuer ~* '^https?://[^/?#]+';

-- How a walk through the pages of a list went so far, so that one that has no end is found.
alter table codehost_sync_lists add column walk jsonb;
alter table codehost_syncs add column repositories_walk jsonb;
