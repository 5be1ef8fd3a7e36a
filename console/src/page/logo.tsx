/** The mark of Shiplock: a gate above a waterline. Decorative, because its name always stands beside it. */
export function Logo({ size }: { size: number }) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="#2f5fd0" />
      <path d="M9 20.5 16 9l7 11.5Z" fill="none" stroke="#fff" strokeWidth="2.6" strokeLinejoin="round" />
      <path d="M8 24.5h16" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
    </svg>
  )
}
