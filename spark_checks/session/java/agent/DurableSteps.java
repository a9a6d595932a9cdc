/**
 * Is called at each durable step of Spark's: it reports the step, and does what is armed.
 *
 * Spark's own compiler, Janino, compiles this in the session, so that no JDK is needed.
 * Janino knows no lambdas, and generic types only to skip them.
 */
import java.io.File;
import java.io.FileOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskState;
import org.apache.spark.scheduler.TaskSchedulerImpl;

public class DurableSteps implements BiFunction {
    private static final String RUN = "onceproof.run";
    private static final String BATCH = "streaming.sql.batchId";
    private static final int HALTED = 73;

    private SparkContext context;
    private final Map runs = new ConcurrentHashMap();
    private final Map attempts = Collections.synchronizedMap(new WeakHashMap());

    /** One start of a query: what is armed for it, and whether its process is dead. */
    public static class Run {
        String folder;
        String number;
        File marks;
        File report;
        long patience;
        List rules = new ArrayList();
        Map calls = new HashMap();
        volatile boolean dead;

        synchronized int count(String key) {
            Integer before = (Integer) calls.get(key);
            int now = before == null ? 1 : before.intValue() + 1;
            calls.put(key, Integer.valueOf(now));
            return now;
        }

        synchronized void tell(String line) {
            try {
                FileOutputStream file = new FileOutputStream(report, true);
                try {
                    file.write(line.getBytes(StandardCharsets.UTF_8));
                } finally {
                    file.close();
                }
            } catch (java.io.IOException gone) {
                // The folder of a run that is over has been deleted.
            }
        }
    }

    /** What happens at a step. The fields are those of a rule of the plan. */
    public static class Rule {
        String step;
        String event;
        long batch;
        long partition;
        long attempt;
        long nth;
        String act;
        String[] awaited;
        String mark;
        boolean once;
        String after;
    }

    /** An attempt of a task belongs to the start of the query that it began in. */
    public static class Attempt {
        Run run;
        boolean dead;
        boolean zombie;
    }

    public void use(SparkContext context) {
        this.context = context;
    }

    public boolean has(String name, String method) throws Exception {
        Class found;
        try {
            found = Class.forName(name, false, SparkContext.class.getClassLoader());
        } catch (ClassNotFoundException missing) {
            return false;
        }
        java.lang.reflect.Method[] all = found.getDeclaredMethods();
        for (int i = 0; i < all.length; i++) {
            if (all[i].getName().equals(method)) {
                return true;
            }
        }
        return false;
    }

    public Run prepare(
        String folder, String number, String marks, String report, long patience
    ) {
        Run run = new Run();
        run.folder = folder;
        run.number = number;
        run.marks = new File(marks);
        run.report = new File(report);
        run.patience = patience;
        return run;
    }

    public void rule(
        Run run,
        String where,
        long batch,
        long partition,
        long attempt,
        long nth,
        String act,
        String awaited,
        String mark,
        boolean once,
        String after
    ) {
        Rule rule = new Rule();
        rule.step = where.substring(0, where.indexOf(' '));
        rule.event = where.substring(where.indexOf(' ') + 1);
        rule.batch = batch;
        rule.partition = partition;
        rule.attempt = attempt;
        rule.nth = nth;
        rule.act = act;
        rule.awaited = awaited.length() == 0 ? new String[0] : awaited.split("\n");
        rule.mark = mark;
        rule.once = once;
        rule.after = after;
        run.rules.add(rule);
    }

    public void arm(String name, Run run) {
        runs.put(name, run);
    }

    public void disarm(String name) {
        runs.remove(name);
    }

    /** Return the message of what is thrown at a step, or null. */
    public Object apply(Object place, Object given) {
        try {
            return reached(((String) place).split("\\|", -1), (Object[]) given);
        } catch (Exception error) {
            return "the agent failed at " + place + ": " + error;
        }
    }

    private String reached(String[] of, Object[] args) throws Exception {
        String path = of[3].length() == 0 ? "" : String.valueOf(value(args, of[3]));
        if (of[4].length() > 0 && !isOf(path, of[4])) {
            return null;
        }
        TaskContext task = TaskContext.get();
        Attempt mine = task == null ? null : attemptOf(task);
        Run run = mine != null ? mine.run : of[5].length() > 0 ? within(path) : mine();
        if (run == null) {
            return null;
        }
        long batch = number(of[2].equals("task") ? property(BATCH) : value(args, of[2]));
        long partition = task == null ? -1 : task.partitionId();
        long attempt = task == null ? -1 : task.attemptNumber();
        String rest = "\t" + batch + "\t" + partition + "\t" + attempt + "\t"
            + Thread.currentThread().getName().replace('\t', ' ') + "\n";
        String begin = "\t" + run.number + "\t" + of[0] + "\t";
        run.tell(System.nanoTime() + begin + of[1] + rest);
        if (mine != null ? mine.dead || (run.dead && !mine.zombie) : run.dead) {
            refuse(run, of[1], begin, rest);
            return "the process is dead: it does not " + of[0];
        }
        String key = of[0] + "|" + of[1] + "|" + batch + "|" + partition + "|" + attempt;
        int times = run.count(key);
        for (int i = 0; i < run.rules.size(); i++) {
            Rule rule = (Rule) run.rules.get(i);
            if (
                rule.step.equals(of[0])
                && rule.event.equals(of[1])
                && rule.batch == batch
                && (rule.partition < 0 || rule.partition == partition)
                && (rule.attempt < 0 || rule.attempt == attempt)
                && (rule.nth < 0 || rule.nth == times)
                && !(rule.once && marked(run, rule.mark))
                && (rule.after.length() == 0 || marked(run, rule.after))
            ) {
                String thrown = act(rule, run, task, mine);
                if (thrown != null) {
                    refuse(run, of[1], begin, rest);
                    return thrown;
                }
            }
        }
        return null;
    }

    /** Report that a step that was called is not taken. */
    private void refuse(Run run, String event, String begin, String rest) {
        if (event.equals("call")) {
            run.tell(System.nanoTime() + begin + "refused" + rest);
        }
    }

    private String act(Rule rule, Run run, TaskContext task, Attempt mine)
        throws Exception {
        boolean lives = rule.act.equals("zombie") && mine != null;
        if (lives) {
            mine.zombie = true;
            leave(run, rule.mark);
            giveUp(task);
        }
        for (int i = 0; i < rule.awaited.length; i++) {
            String lacking = await(rule, run, rule.awaited[i]);
            if (lacking != null) {
                leave(run, "unmet-" + System.nanoTime(), lacking);
                return dead(rule, run, mine);
            }
        }
        if (lives) {
            return null;
        }
        if (rule.mark.length() > 0) {
            leave(run, rule.mark);
        }
        if (rule.act.equals("halt")) {
            Runtime.getRuntime().halt(HALTED);
        }
        if (rule.act.startsWith("kill ")) {
            String group = "-" + rule.act.substring(5);
            new ProcessBuilder(new String[] {"kill", "-KILL", "--", group}).start();
            Thread.sleep(run.patience);
        }
        if (rule.act.equals("end")) {
            run.dead = true;
        }
        if (rule.act.equals("die") || rule.act.equals("end")) {
            return dead(rule, run, mine);
        }
        if (rule.act.equals("raise")) {
            return "Spark's step " + rule.step + " fails, as planned";
        }
        return null;
    }

    private String dead(Rule rule, Run run, Attempt mine) {
        if (mine == null) {
            run.dead = true;
        } else {
            mine.dead = true;
        }
        return "the process died at " + rule.step + ", as planned";
    }

    /** Let Spark's scheduler take an attempt for lost, while its thread goes on. */
    private void giveUp(TaskContext task) {
        ((TaskSchedulerImpl) context.taskScheduler()).statusUpdate(
            task.taskAttemptId(), TaskState.FAILED(), ByteBuffer.allocate(0)
        );
    }

    private String await(Rule rule, Run run, String mark) throws InterruptedException {
        File file = mark.indexOf('/') >= 0 ? new File(mark) : new File(run.marks, mark);
        int dash = rule.mark.indexOf('-');
        String of = dash < 0 ? rule.mark : rule.mark.substring(0, dash);
        File released = new File(run.marks, of + "-released");
        long ends = System.currentTimeMillis() + run.patience;
        while (!file.exists()) {
            if (rule.act.equals("zombie") && released.exists()) {
                return null;
            }
            if (System.currentTimeMillis() > ends || !run.marks.isDirectory()) {
                return "Spark's step " + rule.step + ", batch " + rule.batch
                    + ", waited in vain for " + file.getParentFile().getName() + "/"
                    + file.getName();
            }
            Thread.sleep(1);
        }
        return null;
    }

    private boolean marked(Run run, String mark) {
        return new File(run.marks, mark).exists();
    }

    private void leave(Run run, String mark) throws java.io.IOException {
        if (run.marks.isDirectory()) {
            new File(run.marks, mark).createNewFile();
        }
    }

    private void leave(Run run, String mark, String text) throws java.io.IOException {
        if (run.marks.isDirectory()) {
            FileOutputStream file = new FileOutputStream(new File(run.marks, mark));
            file.write(text.getBytes(StandardCharsets.UTF_8));
            file.close();
        }
    }

    private Attempt attemptOf(TaskContext task) {
        Attempt found = (Attempt) attempts.get(task);
        if (found == null) {
            String name = task.getLocalProperty(RUN);
            found = new Attempt();
            found.run = name == null ? null : (Run) runs.get(name);
            attempts.put(task, found);
        }
        return found;
    }

    private Run mine() {
        String name = property(RUN);
        return name == null ? null : (Run) runs.get(name);
    }

    private Run within(String path) {
        String plain = path.startsWith("file:") ? path.substring(5) : path;
        while (plain.startsWith("//")) {
            plain = plain.substring(1);
        }
        Run found = null;
        Iterator all = runs.values().iterator();
        while (all.hasNext()) {
            Run run = (Run) all.next();
            boolean nearer = found == null || run.folder.length() > found.folder.length();
            if (plain.startsWith(run.folder + "/") && nearer) {
                found = run;
            }
        }
        return found;
    }

    private String property(String name) {
        TaskContext task = TaskContext.get();
        if (task != null) {
            return task.getLocalProperty(name);
        }
        return context.getLocalProperty(name);
    }

    private static boolean isOf(String path, String logs) {
        String[] parts = path.split("/");
        String[] known = logs.split(",");
        for (int i = 0; i < known.length; i++) {
            for (int back = 1; back <= 2 && back <= parts.length; back++) {
                if (parts[parts.length - back].equals(known[i])) {
                    return true;
                }
            }
        }
        return false;
    }

    private static long number(Object value) {
        if (value instanceof Number) {
            return ((Number) value).longValue();
        }
        String text = value == null ? "" : value.toString();
        return text.matches("-?[0-9]+") ? Long.parseLong(text) : -1;
    }

    /** Find a value among this and the arguments: "1", "0.method", "1.method-1". */
    private static Object value(Object[] args, String at) throws Exception {
        if (at.length() == 0) {
            return null;
        }
        boolean before = at.endsWith("-1");
        String[] parts = (before ? at.substring(0, at.length() - 2) : at).split("\\.");
        Object found = args[Integer.parseInt(parts[0])];
        for (int i = 1; i < parts.length; i++) {
            java.lang.reflect.Method method = found.getClass().getMethod(parts[i], new Class[0]);
            method.setAccessible(true);
            found = method.invoke(found, new Object[0]);
        }
        return before ? (Object) Long.valueOf(number(found) - 1) : found;
    }
}
