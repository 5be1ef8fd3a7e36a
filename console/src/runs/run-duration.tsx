import { formatDuration, useNow } from '../page/time.tsx'

type RunDurationProps = { status: string; started_at: string; duration_seconds: number | null }

/** How long a run or an attempt took, or has taken so far. */
export function RunDuration({ status, started_at, duration_seconds: seconds }: RunDurationProps) {
  const now = useNow()
  if (seconds !== null) return formatDuration(seconds)
  if (status !== 'in_progress') return null
  const minutes = Math.max(0, Math.floor((now - new Date(started_at).getTime()) / 60_000))
  return `${minutes === 0 ? 'under 1 min' : formatDuration(minutes * 60)} so far`
}
