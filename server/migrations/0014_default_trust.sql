-- Whose evidence the rules admit that name no trust (trust.md §2). Null: nobody has said yet, and
-- security uploads of API keys count beside what is verified.
alter table organizations
  add column if not exists default_trust text,
  drop constraint if exists organizations_default_trust_check,
  add constraint organizations_default_trust_check check (default_trust in ('verified', 'uploaded'));

-- Who let the keys in again, and when: they do not approve what that let through (trust.md §5).
alter table organizations
  add column if not exists default_trust_loosened_at timestamptz(3),
  add column if not exists default_trust_loosened_by text;
