alter table findings
  -- Columns count from 1, as in SARIF.
  add column start_column integer,
  add column end_column integer,
  -- A sketch of the flagged text. Similar texts have similar sketches. Null for secrets.
  add column similarity bytea check (length(similarity) <= 32),
  -- How the finding was last recognized in a report if not by an exact match with the previous report. Null if it was
  -- only ever matched exactly.
  add column identity_method text check (
    identity_method in (
      'same_fingerprint', 'same_place', 'edited_in_place', 'moved_in_file', 'file_renamed', 'moved_to_file'
    )
  ),
  -- The place before: {"path", "start_line"}. Null if the finding was not in a file.
  add column identity_from jsonb,
  add column identity_at timestamptz(3),
  add constraint findings_identity check (
    (identity_method is null) = (identity_at is null)
    and (identity_from is null or identity_method is not null)
  );
