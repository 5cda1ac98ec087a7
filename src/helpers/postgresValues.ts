/** The values of settings as Postgres reads them: it may show a value in another form than it was given. */

/** In bytes. Postgres' factor is 1024. */
const MEMORY: Readonly<Record<string, number>> = { B: 1, kB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };
/** In microseconds. */
const TIME: Readonly<Record<string, number>> = {
  us: 1,
  ms: 1_000,
  s: 1_000_000,
  min: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
};

/** The unit of a number without one, for the settings that have a unit. `8kB` is a block. */
const UNIT_OF: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "8kB":
      "backend_flush_after bgwriter_flush_after checkpoint_flush_after commit_timestamp_buffers effective_cache_size " +
      "min_parallel_index_scan_size min_parallel_table_scan_size multixact_member_buffers multixact_offset_buffers " +
      "notify_buffers serializable_buffers shared_buffers subtransaction_buffers temp_buffers transaction_buffers " +
      "wal_buffers wal_writer_flush_after",
    B: "log_parameter_max_length log_parameter_max_length_on_error track_activity_query_size wal_decode_buffer_size",
    kB:
      "autovacuum_work_mem gin_pending_list_limit log_rotation_size log_temp_files " +
      "logical_decoding_work_mem maintenance_work_mem max_stack_depth temp_file_limit vacuum_buffer_usage_limit " +
      "wal_skip_threshold work_mem",
    MB: "max_slot_wal_keep_size max_wal_size min_dynamic_shared_memory min_wal_size wal_keep_size",
    us: "commit_delay",
    ms:
      "autovacuum_vacuum_cost_delay bgwriter_delay client_connection_check_interval deadlock_timeout " +
      "idle_in_transaction_session_timeout idle_session_timeout lock_timeout log_autovacuum_min_duration " +
      "log_min_duration_sample log_min_duration_statement log_startup_progress_interval max_standby_archive_delay " +
      "max_standby_streaming_delay recovery_min_apply_delay statement_timeout tcp_user_timeout transaction_timeout " +
      "vacuum_cost_delay wal_receiver_timeout wal_retrieve_retry_interval wal_sender_timeout wal_writer_delay",
    s:
      "archive_timeout authentication_timeout autovacuum_naptime checkpoint_timeout checkpoint_warning " +
      "post_auth_delay pre_auth_delay tcp_keepalives_idle tcp_keepalives_interval wal_receiver_status_interval",
    min: "log_rotation_age wal_summary_keep_time",
  }).flatMap(([unit, names]) => names.split(" ").map((name) => [name, unit] as const)),
);

const AMOUNT = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(B|kB|MB|GB|TB|us|ms|s|min|h|d)?\s*$/;

/** A number, or an amount of memory or time in the smallest unit. Undefined: anything else. */
function amountOf(name: string, value: string): string | undefined {
  const [, number, given] = AMOUNT.exec(value) ?? [];
  if (number === undefined) return undefined;
  const unit = given ?? UNIT_OF.get(name);
  if (unit === undefined) return `${Number(number)}`;
  if (unit === "8kB") return `${Number(number) * 8 * 1024} B`;
  const bytes = MEMORY[unit];
  return bytes === undefined ? `${Number(number) * (TIME[unit] ?? 1)} us` : `${Number(number) * bytes} B`;
}

const FLAGS: readonly (readonly [word: string, shortest: number, value: boolean])[] = [
  ["true", 1, true],
  ["yes", 1, true],
  ["on", 2, true],
  ["1", 1, true],
  ["false", 1, false],
  ["no", 1, false],
  ["off", 2, false],
  ["0", 1, false],
];

/** As Postgres reads a boolean: any beginning of a word that no other word has, in any case. */
function flagOf(value: string): boolean | undefined {
  const text = value.trim().toLowerCase();
  return FLAGS.find(([word, shortest]) => text.length >= shortest && word.startsWith(text))?.[2];
}

/**
 * The one form of all values of a setting that mean the same to Postgres. A setting with a dot in its name is one of an
 * application or of an extension: Postgres keeps the text of the first as it is, so these are the same only as texts.
 */
export function settingValueForm(name: string, value: string): string {
  if (name.includes(".")) return value;
  const setting = name.toLowerCase();
  // "1" and "0" are numbers, too. What has a unit is no boolean.
  const flag = UNIT_OF.has(setting) ? undefined : flagOf(value);
  return amountOf(setting, value) ?? (flag === undefined ? value : String(Number(flag)));
}
