-- Organizations whose findings were grouped by earlier rules. A job groups them again and deletes the row. A migration
-- that comes with new rules adds all organizations.
create table issue_rule_changes (
  org_id uuid primary key references organizations
);
insert into issue_rule_changes (org_id)
select distinct org_id
from reported_repositories;
