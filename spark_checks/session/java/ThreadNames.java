import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.management.ObjectName;

/**
 * The names of Java's threads, by the numbers that the system has for them.
 *
 * <p>Spark names a thread that runs a task after the task. A list of all threads gives
 * their numbers; what is known then is asked of the one thread, which costs little.
 */
public class ThreadNames {
  private static final String NUMBER = " nid=";

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final Map known = new ConcurrentHashMap();

  /** Returns Java's own number for a thread; 0 if it is not known. */
  public long idOf(long number) throws Exception {
    if (nameOf(known(number)).isEmpty()) {
      look();
    }
    return known(number);
  }

  /** Returns the name that a thread has now, by Java's number; empty if there is none. */
  public String nameOf(long id) {
    ThreadInfo info = id > 0 ? threads.getThreadInfo(id) : null;
    return info == null ? "" : info.getThreadName();
  }

  private long known(long number) {
    Long id = (Long) known.get(Long.valueOf(number));
    return id == null ? 0 : id.longValue();
  }

  private void look() throws Exception {
    ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
    Object[] given = new Object[] {new String[0]};
    String[] types = new String[] {String[].class.getName()};
    String all =
        (String)
            ManagementFactory.getPlatformMBeanServer()
                .invoke(commands, "threadPrint", given, types);
    known.clear();
    String[] lines = all.split("\n");
    for (int i = 0; i < lines.length; i++) {
      int id = lines[i].lastIndexOf("\" #");
      int number = lines[i].lastIndexOf(NUMBER);
      if (lines[i].startsWith("\"") && id > 0 && number > id) {
        known.put(
            Long.decode(word(lines[i], number + NUMBER.length())),
            Long.valueOf(word(lines[i], id + 3)));
      }
    }
  }

  private static String word(String line, int from) {
    int end = line.indexOf(' ', from);
    return end < 0 ? line.substring(from) : line.substring(from, end);
  }
}
