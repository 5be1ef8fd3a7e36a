import { Text } from '@mantine/core'
import type { KeyboardEvent, PointerEvent } from 'react'
import { useState } from 'react'
import classes from './chart.module.css'
import { type ChartData, formatDay, valuesAt } from './chart.ts'
import { SeriesMark } from './legend.tsx'
import { HEIGHT, type Layout, MARGIN } from './plot.tsx'

type ChartCursorProps = { chartId: string; label: string; data: ChartData; layout: Layout }

/**
 * The exact values of a day: under the pointer, or chosen with the arrow keys. Assistive technology
 * reads it as a slider over the days.
 */
export function ChartCursor({ chartId, label, data, layout }: ChartCursorProps) {
  const [index, setIndex] = useState<number | null>(null)
  const last = data.dates.length - 1
  const shown = index === null ? null : Math.min(index, last)
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextIndex(event.key, shown, last)
    if (next === undefined) return
    event.preventDefault()
    setIndex(next)
  }
  const onPointerMove = ({ nativeEvent: { offsetX } }: PointerEvent) => {
    const from = layout.x(0)
    setIndex(Math.max(0, Math.min(last, Math.round((offsetX - from) / layout.step || 0))))
  }
  return (
    <>
      <div
        role="slider"
        tabIndex={0}
        aria-label={`${label}: day`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={shown ?? last}
        aria-valuetext={describe(data, shown ?? last)}
        className={classes.cursor}
        onKeyDown={onKeyDown}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setIndex(null)}
        onBlur={() => setIndex(null)}
        onFocus={({ currentTarget }) => currentTarget.matches(':focus-visible') && setIndex((at) => at ?? last)}
      >
        {shown !== null && (
          <div className={classes.rule} style={{ left: layout.x(shown), height: HEIGHT - MARGIN.bottom }} />
        )}
      </div>
      <div role="status">
        {shown !== null && <Values chartId={chartId} data={data} index={shown} layout={layout} />}
      </div>
    </>
  )
}

function nextIndex(key: string, index: number | null, last: number): number | null | undefined {
  const at = index ?? last
  const moved = {
    ArrowLeft: at - 1,
    ArrowDown: at - 1,
    ArrowRight: at + 1,
    ArrowUp: at + 1,
    PageDown: at - 7,
    PageUp: at + 7,
  }[key]
  if (moved !== undefined) return Math.max(0, Math.min(last, moved))
  return { Home: 0, End: last, Escape: null }[key]
}

function describe(data: ChartData, index: number): string {
  const values = valuesAt(data, index).map(
    ({ series, value }) => `${series.label} ${value === null ? 'no data' : data.format(value)}`,
  )
  return `${formatDay(data.dates[index] as string)}: ${values.join(', ')}`
}

type ValuesProps = Omit<ChartCursorProps, 'label'> & { index: number }

/** Beside the day, on the side where there is room. */
function Values({ chartId, data, index, layout }: ValuesProps) {
  const x = layout.x(index)
  const isLeft = x > layout.width / 2
  return (
    <div className={classes.values} style={isLeft ? { right: layout.width - x + 8 } : { left: x + 8 }}>
      <Text size="xs" c="dimmed">
        {formatDay(data.dates[index] as string)}
      </Text>
      {valuesAt(data, index)
        .map(({ series, value }, at) => (
          <div key={series.key} className={classes.value}>
            <SeriesMark chartId={chartId} kind={data.kind} series={series} index={at} />
            <span>{series.label}</span>
            <b>{value === null ? 'No data' : data.format(value)}</b>
          </div>
        ))
        .reverse()}
    </div>
  )
}
