-- The filters of findings that have few values, as one number, like issue_facet. An index that starts with it has the
-- findings of each combination in the order of their ids.
create function finding_facet(state text, severity text, kind text) returns smallint
  language sql immutable parallel safe
  return (
    (
      array_position(array['open', 'fixed', 'dismissed'], state) * 5
      + array_position(array['info', 'low', 'medium', 'high', 'critical'], severity)
    ) * 7
    + array_position(array['code', 'dependency', 'secret', 'iac', 'container', 'license', 'other'], kind)
  )::smallint;

alter table findings
  add column facet smallint not null generated always as (finding_facet(state, severity, kind)) stored;
create index findings_by_facet on findings (org_id, facet, id);
-- Scanner, category and ref are properties of the stream. The facet is included so that it is filtered without reading
-- the findings. A stream is of one organization, and without org_id no other index starts with the same columns.
create index findings_by_stream on findings (stream_id, id) include (facet);
-- Findings of one file have equal keys, which are stored once.
create index findings_by_path on findings (stream_id, path collate "C")
  where path is not null;
-- The findings of a repository are those of its streams.
drop index findings_by_repository;
