/** The numbers of days that the charts of Home can show. */
export const PERIODS = [7, 30, 90] as const

export const DEFAULT_PERIOD = 30
