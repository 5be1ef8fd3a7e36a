import { nameOf } from './audit-vocabulary.ts'

export type DetailLine = { label: string; value: string }

/** The details of an entry as lines to read: a field in a field is "Before: mode". */
export function detailLines(details: Record<string, unknown>, above = ''): DetailLine[] {
  return Object.entries(details).flatMap(([key, value]) => {
    const label = above === '' ? nameOf(key) : `${above}: ${nameOf(key).toLowerCase()}`
    if (isFields(value)) return detailLines(value, label)
    return [{ label, value: textOf(value) }]
  })
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (!Array.isArray(value)) return typeof value === 'object' ? 'none' : String(value)
  if (value.length === 0) return 'none'
  return value.map((item) => (typeof item === 'object' ? JSON.stringify(item) : String(item))).join(', ')
}
