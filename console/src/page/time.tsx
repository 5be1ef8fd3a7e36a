import { Tooltip } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { LOCALE } from './numbers.ts'

const ZONED = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' })
const UTC = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })
const RELATIVE = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto', style: 'long' })
const UNITS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]
const TICK_MS = 30_000

type TimeProps = {
  /** An RFC 3339 time. */
  at: string
  /** `relative`: "3 hours ago"; `absolute`: date and time in the reader's zone. */
  format?: 'relative' | 'absolute'
}

/** A time in the reader's zone. Hover or focus shows the exact time in both zones. */
export function Time({ at, format = 'relative' }: TimeProps) {
  const now = useNow()
  const date = new Date(at)
  const text = format === 'relative' ? formatRelative(date, now) : ZONED.format(date)
  return (
    <Tooltip label={`${ZONED.format(date)} · ${UTC.format(date)} UTC`}>
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {text}
      </time>
    </Tooltip>
  )
}

/** "3 hours ago", "in 2 days", "now". */
function formatRelative(date: Date, now: number): string {
  const seconds = (date.getTime() - now) / 1000
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['minute', 60]
  return Math.abs(seconds) < 60 ? 'just now' : RELATIVE.format(Math.trunc(seconds / length), unit)
}

/** Date and time in the reader's zone, as text. */
export function formatTime(at: string): string {
  return ZONED.format(new Date(at))
}

/** "2 h 5 min", "48 s". */
export function formatDuration(seconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.round(seconds) % 60, 's'],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  if (first === -1) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

let now = Date.now()

/** The time, which moves on every half minute. */
export function useNow(): number {
  return useSyncExternalStore(subscribeToMinutes, () => now)
}

function subscribeToMinutes(onTick: () => void): () => void {
  const timer = setInterval(() => {
    now = Date.now()
    onTick()
  }, TICK_MS)
  return () => clearInterval(timer)
}
