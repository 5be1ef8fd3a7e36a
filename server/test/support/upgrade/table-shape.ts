import type { Sql } from '../../../src/platform/db/sql.ts'

export type Column = {
  name: string
  type: string
  is_required: boolean
  has_default: boolean
  /** Computed from other columns. */
  is_generated: boolean
  /** Numbered by PostgreSQL. */
  is_identity: boolean
}

export type Check = { name: string; columns: string[]; definition: string }
export type Reference = { columns: string[]; table: string; referenced: string[] }
export type Shape = { name: string; columns: Column[]; checks: Check[]; references: Reference[] }

/** Tables of the migrator itself. */
const BOOKKEEPING = ['schema_migrations', 'schema_migration_batches']

/** All tables, those that others refer to first. */
export async function readShapes(sql: Sql): Promise<Shape[]> {
  const shapes = await sql<Shape[]>`
    select t.relname as name,
      (
        select jsonb_agg(jsonb_build_object(
          'name', a.attname, 'type', format_type(a.atttypid, null), 'is_required', a.attnotnull,
          'has_default', a.atthasdef, 'is_generated', a.attgenerated <> '', 'is_identity', a.attidentity <> ''
        ) order by a.attnum)
        from pg_attribute a
        where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      ) as columns,
      coalesce((
        select jsonb_agg(jsonb_build_object(
          'name', k.conname, 'definition', pg_get_constraintdef(k.oid),
          'columns', array(select attname from pg_attribute where attrelid = t.oid and attnum = any(k.conkey))
        ) order by k.conname collate "C")
        from pg_constraint k
        where k.conrelid = t.oid and k.contype in ('c', 'u', 'p')
      ), '[]') as checks,
      coalesce((
        select jsonb_agg(jsonb_build_object(
          'table', k.confrelid::regclass::text,
          'columns', array(
            select attname from unnest(k.conkey) with ordinality key (no, at)
            join pg_attribute on attrelid = k.conrelid and attnum = no order by at
          ),
          'referenced', array(
            select attname from unnest(k.confkey) with ordinality key (no, at)
            join pg_attribute on attrelid = k.confrelid and attnum = no order by at
          )
        ) order by k.conname collate "C")
        from pg_constraint k
        where k.conrelid = t.oid and k.contype = 'f'
      ), '[]') as references
    from pg_class t
    where t.relnamespace = 'public'::regnamespace
      and t.relkind in ('r', 'p')
      and not t.relispartition
      and t.relname <> all(${BOOKKEEPING})
    order by t.relname collate "C"`
  return inOrder([...shapes])
}

function inOrder(shapes: Shape[]): Shape[] {
  const [ordered, waiting] = [[] as Shape[], [...shapes]]
  while (waiting.length > 0) {
    const isReady = ({ name, references }: Shape) =>
      references.every(({ table }) => table === name || ordered.some((shape) => shape.name === table))
    const at = waiting.findIndex(isReady)
    if (at < 0) throw new Error(`tables refer to each other in a circle: ${waiting.map(({ name }) => name).join(', ')}`)
    ordered.push(...waiting.splice(at, 1))
  }
  return ordered
}
