// Loaded before a program that supervise.mjs runs: when the launcher is gone, however it ended,
// stop as by SIGTERM.
if (process.env.SHIPLOCK_LAUNCHED && process.channel) {
  delete process.env.SHIPLOCK_LAUNCHED // children of this program are none of the launcher's business
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}
