// The default theme with the system's fonts: nothing is loaded from another host.
import theme from "vitepress/theme-without-fonts";
// oxlint-disable-next-line import/no-unassigned-import -- VitePress takes styles this way
import "./style.css";

export default theme;
