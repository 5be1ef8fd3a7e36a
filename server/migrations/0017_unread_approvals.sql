-- Whether the client that opened a gate has yet to read its approval (trust.md §2). Until then, the
-- gate waits again if the policies that it asked no longer pass. Approvals from before are read.
alter table opened_gates add column if not exists unread boolean not null default false;
