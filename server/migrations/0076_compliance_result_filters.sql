-- Lists of the results of one policy, and of one repository.
create index compliance_results_by_policy on compliance_results (org_id, policy_id, created_at, id);
create index compliance_results_by_repository_creation on compliance_results (org_id, repository, created_at, id);
