import type { Db } from '../platform/db/sql.ts'

/** SQL: whether the version `given` replaces `stored`. The same as `isNewerVersion`. */
export function buildIsNewer(db: Db, given: ReturnType<Db>, stored: ReturnType<Db>) {
  const part = (version: ReturnType<Db>, at: number) => db`split_part(${version}, ' ', ${at}) collate "C"`
  const time = (version: ReturnType<Db>) => db`(${part(version, 1)}, ${part(version, 2)})`
  const described = (version: ReturnType<Db>) => db`(${part(version, 3)}, ${part(version, 4)})`
  const isRead = (version: ReturnType<Db>) => db`starts_with(${part(version, 5)}, 'r')`
  const at = (version: ReturnType<Db>) => db`substr(${part(version, 5)}, 2)`
  return db`
    case
      when ${time(given)} <> ${time(stored)} then ${time(given)} > ${time(stored)}
      when ${described(given)} = ${described(stored)}
      then ${isRead(given)} and (not ${isRead(stored)} or ${at(given)} > ${at(stored)})
      when ${part(given, 5)} = ${part(stored, 5)} then ${described(given)} > ${described(stored)}
      when ${isRead(given)} and ${at(given)} >= ${at(stored)} then true
      when ${isRead(stored)} and ${at(stored)} >= ${at(given)} then false
      else ${described(given)} > ${described(stored)}
    end`
}
