-- Attestations of the ingest routes.
alter table ci_attestations drop constraint ci_attestations_kind_check;
alter table ci_attestations add constraint ci_attestations_kind_check
  check (kind in ('test-results', 'coverage', 'sbom', 'scan', 'custom', 'ownership', 'provenance'));
