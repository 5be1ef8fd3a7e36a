-- A run of a code host keeps the claims of its token, too. Its repository is that of the code host.
alter table ci_runs drop constraint ci_runs_claimed_check;
alter table ci_runs add constraint ci_runs_claimed_check check (
  case
    when provider = 'other' then num_nonnulls(claims, claimed_provider, claimed_repository_id) in (0, 3)
    else num_nonnulls(claimed_provider, claimed_repository_id) = 0
  end
);
