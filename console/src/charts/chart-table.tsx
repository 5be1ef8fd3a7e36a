import { ScrollBox } from '../page/scroll-box.tsx'
import classes from './chart.module.css'
import { type ChartData, formatDay } from './chart.ts'

/** The exact values of a chart, newest day first. */
export function ChartTable({ label, data: { dates, series, format } }: { label: string; data: ChartData }) {
  return (
    <ScrollBox label={`${label}, as a table`} className={classes.table}>
      <table aria-label={label} className={classes.days}>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {series.map(({ key, label }) => (
              <th key={key} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {dates.toReversed().map((date, at) => (
            <tr key={date}>
              <th scope="row">{formatDay(date)}</th>
              {series.map(({ key, values }) => {
                const value = values[dates.length - 1 - at] ?? null
                return <td key={key}>{value === null ? '–' : format(value)}</td>
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}
